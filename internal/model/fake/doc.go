// Package fake is a model.Backend without a model: a script says what every
// position's distribution is, and everything above the seam can be tested with
// it in microseconds.
//
//	b := fake.New(fake.Options{
//		Config: fake.Config(40, 8, 256),
//		Script: fake.Script{
//			Denoise: func(p fake.Pass, row int) fake.Row { return fake.Certain(answer[row]) },
//		},
//	})
//
// It keeps the whole contract of package model, so the conformance suite runs
// on it: sequences that fork and roll back, canvases that keep their logits,
// errors instead of panics, steps that change nothing when they fail. What it
// was asked is in Backend.Calls; the hooks of Options make it slow, broken or
// poisoned.
//
// Stats is the plain float64 reference of everything that is asked of a row of
// logits. It is written to be obviously right; a fast kernel is compared with
// it.
package fake
