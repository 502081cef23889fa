package fresco

import "strconv"

// A Setting is a number that a request may replace or switch off. The zero value
// leaves it as the checkpoint has it.
type Setting struct {
	value float64
	state settingState
}

type settingState uint8

const (
	settingUnset settingState = iota
	settingValue
	settingOff
)

// Value is a Setting of the given value; 0 is a value like any other.
func Value(v float64) Setting { return Setting{v, settingValue} }

// Off switches off what the setting controls: with a threshold the early stop,
// with a temperature the schedule.
func Off() Setting { return Setting{0, settingOff} }

// IsSet reports whether the setting differs from the zero value.
func (s Setting) IsSet() bool { return s.state != settingUnset }

// IsOff reports whether the setting is Off.
func (s Setting) IsOff() bool { return s.state == settingOff }

// Float returns the value of a setting that has one.
func (s Setting) Float() (v float64, ok bool) { return s.value, s.state == settingValue }

func (s Setting) String() string {
	switch s.state {
	case settingOff:
		return "off"
	case settingValue:
		return strconv.FormatFloat(s.value, 'g', -1, 64)
	}
	return ""
}
