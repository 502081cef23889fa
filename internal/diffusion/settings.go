package diffusion

import (
	"fmt"
	"math"
)

// Limits of Settings. A step index is a 16-bit field of a draw's address;
// beyond the others float32 no longer tells values apart that matter.
const (
	maxSteps       = 1<<16 - 1
	maxTemperature = 1e6
	maxEntropy     = 1e6
	maxStability   = 1<<16 - 1
)

// Settings are the sampler's parameters, by their official names' meaning
// (docs/model.md §1.4). The zero value is not valid.
type Settings struct {
	// Steps is max_denoising_steps: the step cap and the length of the
	// temperature schedule, 1 … 65535.
	Steps int
	// MaxSteps, when not 0, caps the steps at less than Steps without
	// stretching the schedule.
	MaxSteps int

	// TMin and TMax bound the temperature schedule, 0 ≤ TMin < TMax. They are
	// float64 because the official difference is taken before rounding to
	// float32; see Temperature.
	TMin, TMax float64
	// TemperatureOff uses the logits as they are: every temperature is 1.
	TemperatureOff bool

	// EntropyBound is the acceptance bound in nats, > 0; see acceptEntropy.
	EntropyBound float32

	// Stability is the number of earlier argmax canvases that the current one
	// must equal; 0 asks for none.
	Stability int
	// Confidence is the mean entropy in nats below which a canvas is confident,
	// > 0.
	Confidence float32
	// StabilityOff and ConfidenceOff each switch the early stop off as a whole:
	// every canvas then runs to its cap.
	StabilityOff, ConfidenceOff bool
}

// Cap is the number of steps after which a canvas stops at the latest.
func (s Settings) Cap() int {
	if s.MaxSteps != 0 {
		return s.MaxSteps
	}
	return s.Steps
}

// earlyStop reports whether the stable-and-confident rule runs.
func (s Settings) earlyStop() bool { return !s.StabilityOff && !s.ConfidenceOff }

// A SettingsError names the field of Settings that cannot be used.
type SettingsError struct {
	Field   string // name of the field of Settings
	Problem string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("diffusion: %s: %s", e.Field, e.Problem)
}

// Validate returns a *SettingsError that names the first field that cannot be
// used. Fields that are switched off are not looked at.
func (s Settings) Validate() error {
	if s.Steps < 1 || s.Steps > maxSteps {
		return wrong("Steps", "%d is not in 1 … %d", s.Steps, maxSteps)
	}
	if s.MaxSteps < 0 || s.MaxSteps > maxSteps {
		return wrong("MaxSteps", "%d is not in 0 … %d", s.MaxSteps, maxSteps)
	}
	if s.MaxSteps > s.Steps {
		return wrong("MaxSteps", "%d is above the %d of Steps, it can only stop earlier", s.MaxSteps, s.Steps)
	}
	if !s.TemperatureOff {
		if err := s.validateTemperature(); err != nil {
			return err
		}
	}
	if err := positive("EntropyBound", s.EntropyBound); err != nil {
		return err
	}
	if !s.StabilityOff && (s.Stability < 0 || s.Stability > maxStability) {
		return wrong("Stability", "%d is not in 0 … %d", s.Stability, maxStability)
	}
	if !s.ConfidenceOff {
		return positive("Confidence", s.Confidence)
	}
	return nil
}

func (s Settings) validateTemperature() error {
	for _, t := range []struct {
		field string
		value float64
	}{{"TMin", s.TMin}, {"TMax", s.TMax}} {
		if math.IsNaN(t.value) || t.value < 0 || t.value > maxTemperature {
			return wrong(t.field, "%v is not in 0 … %g", t.value, float64(maxTemperature))
		}
	}
	if s.TMax <= s.TMin {
		return wrong("TMax", "%v is not above the %v of TMin", s.TMax, s.TMin)
	}
	if last := s.Temperature(1); last <= 0 {
		return wrong("TMax", "%v is too small: the last step would have temperature %v", s.TMax, last)
	}
	return nil
}

// positive checks a number of nats.
func positive(field string, v float32) error {
	if v != v || v <= 0 || v > maxEntropy {
		return wrong(field, "%v is not above 0 and at most %g nats", v, float64(maxEntropy))
	}
	return nil
}

func wrong(field, format string, args ...any) error {
	return &SettingsError{Field: field, Problem: fmt.Sprintf(format, args...)}
}
