package models

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A load that takes longer than a second is reported, four times a second, and
// never after it has ended; a shorter one is not.
func TestWatch(t *testing.T) {
	second := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	for _, test := range []struct {
		load time.Duration
		want []Progress
	}{
		{second(0.999), nil},
		{second(1.2), []Progress{{"m", 7, second(1)}}},
		{second(1.6), []Progress{{"m", 7, second(1)}, {"m", 7, second(1.25)}, {"m", 7, second(1.5)}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []Progress
			w := startWatch("m", time.Now(), func(p Progress) { got = append(got, p) })
			time.Sleep(test.load / 2)
			w.size(7)
			time.Sleep(test.load - test.load/2)
			w.stop()
			time.Sleep(time.Minute)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("a load of %v (-want +got):\n%s", test.load, diff)
			}
		})
	}
}

// Without anybody to tell, loading is not watched.
func TestWatchNobody(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		w := startWatch("m", time.Now(), nil)
		time.Sleep(time.Minute)
		w.stop()
	})
}
