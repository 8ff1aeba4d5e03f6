package sim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/internal/golden"
	"dmebench/result"
)

// wildFaults draws a schedule of all kinds of faults, roles and instants, for six
// nodes: much of it is impossible in the state that it meets.
func wildFaults(rng *rand.Rand) (faults []string) {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	at := func() time.Duration { return time.Duration(rng.IntN(40_000)) * time.Microsecond }
	node := func() string { return fmt.Sprint(2 + rng.IntN(5)) }
	for range 1 + rng.IntN(7) {
		whom := pick(node(), node(), node()+","+node(), "holder", "waiting", "idle", "root", "random")
		when := pick(at().String(), at().String(), fmt.Sprintf("entry:%d", 1+rng.IntN(40)), fmt.Sprintf("request:%d", 1+rng.IntN(40)))
		from := at()
		switch span := fmt.Sprintf("%v-%v", from, from+at()+1); rng.IntN(7) {
		case 0, 1:
			faults = append(faults, "kill "+whom+" @"+when, "restart "+whom+" @+"+at().String())
		case 2:
			faults = append(faults, "pause "+whom+" @"+span)
		case 3:
			faults = append(faults, "leave "+whom+" @"+when)
		case 4:
			faults = append(faults, "join "+node()+" @"+when)
		case 5:
			faults = append(faults, pick("restart "+node()+" @"+when, "kill "+whom+" @"+when))
		case 6:
			faults = append(faults, fmt.Sprintf("partition %s|1 @%v-%v", node(), from, from+at()/8+1))
		}
	}
	return faults
}

// What becomes of a run with faults for a seed does not change: neither whom they hit
// and when, nor what the run counts and measures.
func TestFiguresUnderFaults(t *testing.T) {
	var b bytes.Buffer
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		spec := result.Spec{
			Nodes: 6, Requests: 120, CS: "exp:300us", Seed: seed + 1, Faults: wildFaults(rng), AllowMismatch: true,
			Set: map[string]string{"delay": []string{"constant", "uniform"}[rng.IntN(2)]},
		}
		r := simulate(t, spec, watchfulAlgorithm())
		fmt.Fprintf(&b, "%d %q\n  %s, %d requests, %d entries, %d messages",
			spec.Seed, spec.Faults, r.Status, r.Requests, r.Entries, r.Messages.Total)
		if r.WaitingTime != nil {
			fmt.Fprintf(&b, ", waited %.0f ns", r.WaitingTime.Mean)
		}
		b.WriteByte('\n')
		for _, f := range r.Faults {
			fmt.Fprintf(&b, "  %s %v at %d", f.What, f.Nodes, f.AtNS)
			for _, x := range []*int64{f.EndedNS, f.RecoveredNS, f.ServedNS} {
				if x != nil {
					fmt.Fprintf(&b, " %d", *x)
				} else {
					b.WriteString(" -")
				}
			}
			fmt.Fprintf(&b, " %d %d\n", f.Waiting, f.Lost)
		}
	}
	golden.MustBe(t, "testdata/faults.txt", b.Bytes())
}
