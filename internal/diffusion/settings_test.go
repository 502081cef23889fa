package diffusion

import (
	"errors"
	"math"
	"testing"
)

// official are the defaults of the published checkpoint.
func official() Settings {
	return Settings{Steps: 48, TMin: 0.4, TMax: 0.8, EntropyBound: 0.1, Stability: 1, Confidence: 0.005}
}

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name  string
		set   func(*Settings)
		field string // "" when valid
	}{
		{"official", func(*Settings) {}, ""},
		{"zero value", func(s *Settings) { *s = Settings{} }, "Steps"},
		{"no steps", func(s *Settings) { s.Steps = 0 }, "Steps"},
		{"negative steps", func(s *Settings) { s.Steps = -1 }, "Steps"},
		{"most steps", func(s *Settings) { s.Steps = 65535 }, ""},
		{"too many steps", func(s *Settings) { s.Steps = 65536 }, "Steps"},
		{"huge steps", func(s *Settings) { s.Steps = math.MaxInt }, "Steps"},
		{"cap", func(s *Settings) { s.MaxSteps = 48 }, ""},
		{"cap above the schedule", func(s *Settings) { s.MaxSteps = 49 }, "MaxSteps"},
		{"negative cap", func(s *Settings) { s.MaxSteps = -1 }, "MaxSteps"},
		{"huge cap", func(s *Settings) { s.MaxSteps = math.MaxInt }, "MaxSteps"},
		{"t_min zero", func(s *Settings) { s.TMin = 0 }, ""},
		{"t_min negative", func(s *Settings) { s.TMin = -0.1 }, "TMin"},
		{"t_min NaN", func(s *Settings) { s.TMin = nan }, "TMin"},
		{"t_min huge", func(s *Settings) { s.TMin = 1e300 }, "TMin"},
		{"t_max NaN", func(s *Settings) { s.TMax = nan }, "TMax"},
		{"t_max infinite", func(s *Settings) { s.TMax = inf }, "TMax"},
		{"t_max negative", func(s *Settings) { s.TMax = -1 }, "TMax"},
		{"t_max equal", func(s *Settings) { s.TMax = s.TMin }, "TMax"},
		{"t_max below", func(s *Settings) { s.TMax = 0.3 }, "TMax"},
		{"t_max vanishing", func(s *Settings) { s.TMin, s.TMax = 0, 1e-60 }, "TMax"},
		{"temperature off", func(s *Settings) { s.TemperatureOff, s.TMin, s.TMax = true, nan, -1 }, ""},
		{"bound zero", func(s *Settings) { s.EntropyBound = 0 }, "EntropyBound"},
		{"bound negative", func(s *Settings) { s.EntropyBound = -0.1 }, "EntropyBound"},
		{"bound NaN", func(s *Settings) { s.EntropyBound = float32(nan) }, "EntropyBound"},
		{"bound infinite", func(s *Settings) { s.EntropyBound = float32(inf) }, "EntropyBound"},
		{"bound huge", func(s *Settings) { s.EntropyBound = 1e7 }, "EntropyBound"},
		{"stability zero", func(s *Settings) { s.Stability = 0 }, ""},
		{"stability negative", func(s *Settings) { s.Stability = -1 }, "Stability"},
		{"stability huge", func(s *Settings) { s.Stability = math.MaxInt }, "Stability"},
		{"stability off", func(s *Settings) { s.Stability, s.StabilityOff = -1, true }, ""},
		{"confidence zero", func(s *Settings) { s.Confidence = 0 }, "Confidence"},
		{"confidence negative", func(s *Settings) { s.Confidence = -1 }, "Confidence"},
		{"confidence NaN", func(s *Settings) { s.Confidence = float32(nan) }, "Confidence"},
		{"confidence infinite", func(s *Settings) { s.Confidence = float32(inf) }, "Confidence"},
		{"confidence off", func(s *Settings) { s.Confidence, s.ConfidenceOff = float32(nan), true }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := official()
			test.set(&s)
			err := s.Validate()
			if test.field == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var wrong *SettingsError
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v is no SettingsError", err)
			}
			if wrong.Field != test.field {
				t.Errorf("error %q names %q, want %q", err, wrong.Field, test.field)
			}
			if _, err := New(s, Answer{}, Philox{}); !errors.As(err, &wrong) {
				t.Errorf("New took what Validate refuses: %v", err)
			}
		})
	}
}

func TestCap(t *testing.T) {
	for _, test := range []struct{ steps, maxSteps, want int }{{48, 0, 48}, {48, 5, 5}, {48, 48, 48}} {
		if got := (Settings{Steps: test.steps, MaxSteps: test.maxSteps}).Cap(); got != test.want {
			t.Errorf("Cap of %+v is %d", test, got)
		}
	}
}

// Wherever the settings are valid, the temperature is positive and never rises.
func TestTemperatureFalls(t *testing.T) {
	for _, s := range []Settings{
		{Steps: 65535, TMin: 0, TMax: 1e-3}, {Steps: 65535, TMin: 0.4, TMax: 0.8}, {Steps: 3, TMin: 0, TMax: 1e6}, {Steps: 1, TMin: 0.1, TMax: 1.3},
	} {
		s.EntropyBound, s.Confidence = 1, 1
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		for cur := s.Steps; cur >= 1; cur-- {
			now := s.Temperature(cur)
			if now <= 0 || now > math.Nextafter32(float32(s.TMax), 1e9) { // the sum may round upwards
				t.Fatalf("%+v: temperature %v with %d steps remaining", s, now, cur)
			}
			if cur < s.Steps && now > s.Temperature(cur+1) {
				t.Fatalf("%+v: temperature rises to %v with %d steps remaining", s, now, cur)
			}
		}
	}
}
