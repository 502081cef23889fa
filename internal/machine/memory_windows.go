package machine

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	globalMemoryStatusEx = kernel32.NewProc("GlobalMemoryStatusEx")
	getProcessMemoryInfo = kernel32.NewProc("K32GetProcessMemoryInfo")
)

// memoryStatusEx is MEMORYSTATUSEX of sysinfoapi.h.
type memoryStatusEx struct {
	length, memoryLoad                          uint32
	totalPhys, availPhys                        uint64
	totalPageFile, availPageFile                uint64
	totalVirtual, availVirtual, availExtVirtual uint64
}

// processMemoryCounters is PROCESS_MEMORY_COUNTERS of psapi.h.
type processMemoryCounters struct {
	size, pageFaultCount                     uint32
	peakWorkingSetSize, workingSetSize       uintptr
	quotaPeakPagedPool, quotaPagedPool       uintptr
	quotaPeakNonPagedPool, quotaNonPagedPool uintptr
	pagefileUsage, peakPagefileUsage         uintptr
}

// Memory returns in bytes the physical memory of the machine, what of it is
// available now, and where the figures come from. What is not known is 0.
func Memory() (total, available int64, source string) {
	var status memoryStatusEx
	status.length = uint32(unsafe.Sizeof(status))
	if globalMemoryStatusEx.Find() != nil {
		return 0, 0, ""
	}
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0, 0, ""
	}
	return clamp(status.totalPhys), clamp(status.availPhys), "GlobalMemoryStatusEx"
}

// PeakMemory returns the largest working set of this process so far, in bytes.
func PeakMemory() (bytes int64, ok bool) {
	var counters processMemoryCounters
	counters.size = uint32(unsafe.Sizeof(counters))
	if getProcessMemoryInfo.Find() != nil {
		return 0, false
	}
	done, _, _ := getProcessMemoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
	return clamp(uint64(counters.peakWorkingSetSize)), done != 0
}

func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
