package check

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// A search for safety alone goes on behind a standstill, and comes to an end where messages
// flow for ever.
func TestSafetyOnly(t *testing.T) {
	// Node 1 is never served, and the others enter as they like.
	unfair := scripted("unfair", script{request: func(s *script, out *dme.Outbox) {
		if s.id != 1 {
			out.Enter(dme.Stamp{})
		}
	}})
	for _, x := range []struct {
		name       string
		a          *dme.Algorithm
		found      vnet.Property // by a search for everything
		unsafe     vnet.Property // by one for safety alone
		exhaustive bool
		bits       Bytes
	}{
		{"unfair, every state", unfair, Progress, vnet.Exclusion, true, 0},
		{"unfair, bits of every state", unfair, "", vnet.Exclusion, true, 1 << 20},
		{"silence, every state", silence(), Progress, "", true, 0},
		{"silence, random", silence(), Progress, "", false, 0},
		{"chatter, random", chatter(), Liveness, "", false, 0},
	} {
		for _, only := range []bool{false, true} {
			o := Options{Nodes: 3, Requests: 3, Schedules: 20, Seed: 1, SafetyOnly: only, Bitstate: x.bits, Patience: 1000}
			s := searchOf(t, x.a, o)
			var report Report
			if x.exhaustive {
				var err error
				if report, err = s.Exhaustive(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				report = s.Random(t.Context())
			}
			want := x.found
			if only {
				want = x.unsafe
			}
			got := vnet.Property("")
			if report.Violation != nil {
				got = report.Violation.Property
			}
			if got != want && (only || want != "") {
				t.Errorf("%s, safety only %v: %q; want %q", x.name, only, got, want)
			}
			if only && want == "" && !report.Complete {
				t.Errorf("%s: not complete: %s", x.name, report.Stopped)
			}
		}
	}
}
