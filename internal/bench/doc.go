// Package bench measures kernels and whole steps against what the machine can do.
//
// Every measurement stands between two calibrations in the same process: how many
// float32 operations the unit does when it does nothing else, and how fast memory is
// read (calibration.go). The ceiling of a kernel follows from them: the longer of
// operations / peak and bytes / bandwidth is the least time that it could take. Its
// share is that time by the time that it took. Where the two calibrations differ by
// more than 10 %, somebody else used the machine, and the report says so.
//
//	timing.go       repeated runs and their median
//	calibration.go  peak and bandwidth, before and after
//	ceiling.go      work, rates and shares
//	operations.go   the kernels with the shapes of the full-size model
//	kernels.go      the table class × format × operation, by thread count
//	slow.go         cells that are slow beside float32, and why
//	step.go         prefill, denoising step and one-token pass of a model
//	text.go         tables for people; JSON is the reports themselves
package bench
