package sim

import (
	"context"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/result"
)

// An implicit reply takes as long as the longest round trip, whatever the
// delays; that is what its claim predicts.
func TestImplicitReplyTakesTheLongestRoundTrip(t *testing.T) {
	for _, x := range []struct {
		set  map[string]string
		want time.Duration
	}{
		{map[string]string{}, 4 * time.Millisecond}, // a bound of 2T
		{map[string]string{"delay": "uniform", "fifo": "false"}, 4 * time.Millisecond},
		{map[string]string{"bound": "1ms"}, 2 * time.Millisecond},
		{map[string]string{"delay": "uniform", "bound": "1500us"}, 3 * time.Millisecond},
	} {
		a := ricartagrawala.Implicit()
		job := resolve(t, result.Spec{Nodes: 5, Requests: 50, Workload: "serial", CS: "100us", Set: x.set}, a)
		r, err := Run(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		want := x.want + 100*time.Microsecond
		if r.Status != result.OK || r.ResponseTime.Max != int64(want) || *r.Messages.PerCS != 4 {
			t.Errorf("%v: %s, response %v, want %v; %v messages", x.set, r.Status, time.Duration(r.ResponseTime.Max), want, *r.Messages.PerCS)
		}
		for _, c := range a.Claims {
			if c.Quantity == dme.ResponseTime && c.Load == dme.Light {
				got, ok := c.Predict(dme.Setting{Nodes: 5, Options: job.Options, System: job.System, E: 100 * time.Microsecond})
				if !ok || got != want.Seconds() {
					t.Errorf("%v: the claim predicts %v s, want %v", x.set, got, want)
				}
			}
		}
	}
}

// Delays that pass the bound, here every third, bring two nodes in.
func TestImplicitReplyNeedsABound(t *testing.T) {
	r := simulate(t, result.Spec{Nodes: 8, Requests: 800, AllowMismatch: true,
		Set: map[string]string{"delay": "exponential", "bound": "1ms"}}, ricartagrawala.Implicit())
	if r.Status != result.Violated || r.Safety.Violations == 0 {
		t.Errorf("status %s, %d violations", r.Status, r.Safety.Violations)
	}
}

// On a sequenced medium a node hears its own broadcasts in their place, which
// costs no message: 2 transmissions for an entry, whatever the delays.
func TestSequencedMediumShowsOnesOwnBroadcasts(t *testing.T) {
	for _, delay := range []string{"constant", "uniform", "exponential"} {
		for _, load := range []string{"serial", "saturate", "burst"} {
			r := simulate(t, result.Spec{Nodes: 6, Requests: 300, Workload: load, Set: map[string]string{
				"form": "sequenced", "delay": delay,
			}}, ricartagrawala.Broadcast())
			if r.Status != result.OK || r.Entries != 300 || r.Messages.Transmissions != 600 || r.Messages.Total != 600*5 {
				t.Errorf("%s, %s: %s %s: %d transmissions and %d messages for %d entries",
					delay, load, r.Status, r.Error, r.Messages.Transmissions, r.Messages.Total, r.Entries)
			}
			if r.Fairness.OutOfOrder != 0 {
				t.Errorf("%s, %s: %d entries out of the medium's order", delay, load, r.Fairness.OutOfOrder)
			}
			if load == "serial" && (len(r.Messages.PerEntry) != 1 || r.Messages.PerEntry["10"] != 300) {
				t.Errorf("%s: messages per entry %v", delay, r.Messages.PerEntry)
			}
		}
	}
}
