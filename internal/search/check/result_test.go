package check

import "testing"

// Whatever changes what is found stands in the command that repeats it.
func TestLivenessCommand(t *testing.T) {
	o := Options{
		Nodes: 3, Set: map[string]string{"tree": "line"}, Unordered: true, InFlight: 2, WithoutInvariants: true, Seed: 5,
	}
	const want = "dmebench check --algorithm raymond --nodes 3 --liveness --set tree=line --fifo=false " +
		"--invariants=false --in-flight 2 --seed 5"
	if got := (&Result{Algorithm: "raymond", Search: ofLiveness, Seed: 5}).replay(o, Options{}); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
