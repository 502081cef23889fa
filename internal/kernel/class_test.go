package kernel

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestClasses(t *testing.T) {
	list := Classes()
	if len(list) == 0 || list[0].Name != "generic" || !list[0].Available {
		t.Fatalf("the first class is not an available generic: %+v", list)
	}
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.Name] {
			t.Errorf("%s is listed twice", c.Name)
		}
		seen[c.Name] = true
		if c.Available != (c.Reason == "") || c.Available && !c.Built {
			t.Errorf("%+v contradicts itself", c)
		}
	}
	for _, name := range []string{"generic", "avx2", "avxvnni", "avx512", "vnni", "amx", "neon"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

// A built class has every function, so that no driver meets nil.
func TestSetsAreWhole(t *testing.T) {
	for _, c := range classes {
		if s := c.set; s != nil && (s.product == nil || s.accumulate == nil || s.rmsNorm == nil || s.geluMul == nil ||
			s.softmax == nil || s.vocabPanel == nil || s.softWeights == nil) {
			t.Errorf("%s has gaps: %+v", c.name, *s)
		}
	}
}

func TestChoose(t *testing.T) {
	var available, unavailable []string
	for _, c := range Classes() {
		if c.Available {
			available = append(available, c.Name)
		} else {
			unavailable = append(unavailable, c.Name)
		}
	}
	best := available[len(available)-1]
	for _, c := range []struct{ name, env, want string }{
		{"", "", best},
		{"", "generic", "generic"},
		{"generic", "", "generic"},
		{"generic", "nonsense", "generic"}, // a name given wins over the environment
	} {
		t.Setenv(EnvClass, c.env)
		k, err := Choose(c.name)
		if err != nil {
			t.Errorf("Choose(%q) with %s=%q: %v", c.name, EnvClass, c.env, err)
		} else if k.Class() != c.want {
			t.Errorf("Choose(%q) with %s=%q: %s, want %s", c.name, EnvClass, c.env, k.Class(), c.want)
		}
	}

	refuse := func(name, env, wantName, wantReason string) {
		t.Helper()
		t.Setenv(EnvClass, env)
		k, err := Choose(name)
		var refused *ClassError
		if !errors.As(err, &refused) {
			t.Errorf("Choose(%q) with %s=%q: %v, %v", name, EnvClass, env, k, err)
			return
		}
		if refused.Name != wantName || !strings.Contains(refused.Reason, wantReason) || !slices.Equal(refused.Available, available) {
			t.Errorf("Choose(%q) with %s=%q: %+v", name, EnvClass, env, refused)
		}
		text := refused.Error()
		for _, part := range append([]string{wantName, wantReason}, available...) {
			if !strings.Contains(text, part) {
				t.Errorf("error %q does not say %q", text, part)
			}
		}
	}
	refuse("sse9", "", "sse9", "no such class")
	refuse("", "sse9", "sse9", "no such class")
	refuse("Generic", "", "Generic", "no such class")
	for _, name := range unavailable {
		refuse(name, "", name, "this")
		refuse("", name, name, "this")
	}
}
