package claim

import (
	"math"
	"testing"

	"dmebench/dme"
)

// Of the claims that speak of a run the smallest bound counts; what is known to be false,
// is made for other links or other loads, or gives no number, does not.
func TestOvertakingBound(t *testing.T) {
	bound := func(per float64) Claim {
		return Claim{Quantity: Bypass, Kind: UpperBound, Load: AnyLoad,
			Predict: func(s dme.Setting) (float64, bool) { return per * float64(s.Nodes), true }}
	}
	ordered, disproved, light, mean, other := bound(2), bound(1), bound(1), bound(1), bound(1)
	ordered.FIFO = true
	exact := bound(4)
	exact.Kind = Exact
	disproved.KnownFalse = "it is more"
	light.Load = Light
	mean.Kind = Mean
	other.Quantity = BypassByOne
	nothing := bound(math.Inf(1))
	undefined := bound(math.NaN())
	for name, x := range map[string]struct {
		claims  List
		ordered bool
		most    int
		claimed bool
	}{
		"no claim":                    {nil, true, 5 * (TurnsOfOthers + 7), false},
		"claims that do not apply":    {List{disproved, light, mean, other, nothing, undefined}, true, 5 * (TurnsOfOthers + 7), false},
		"larger than what is allowed": {List{bound(100)}, true, 500, true},
		"the smaller":                 {List{bound(3), ordered}, true, 10, true},
		"the first is smaller":        {List{ordered, bound(3)}, true, 10, true},
		"an exact figure":             {List{bound(5), exact}, true, 20, true},
		"links without order":         {List{bound(3), ordered}, false, 15, true},
	} {
		got := OvertakingBound(x.claims, dme.Setting{Nodes: 5}, x.ordered)
		if got.Most(7) != x.most || (got.Claim != nil) != x.claimed {
			t.Errorf("%s: %+v, want %d", name, got, x.most)
		}
	}
}

// Bounds at the edges of what is one, of equal ones the first, and what is said of them.
func TestOvertakingBoundIsTold(t *testing.T) {
	bound := func(value float64, source string) Claim {
		return Claim{
			Quantity: Bypass, Kind: UpperBound, Load: Worst, Formula: "a few", Source: source,
			Predict: func(dme.Setting) (float64, bool) { return value, true },
		}
	}
	for want, claims := range map[string]List{
		"at most 17 for each of 5 nodes would be in keeping with turns": {bound(math.MaxInt32+1, "too large"), bound(-1, "negative")},
		"at most a few = 0 are claimed by nobody first":                 {bound(4, "four"), bound(0, "nobody first")},
		"at most a few = 2147483647 are claimed by the largest":         {bound(math.MaxInt32, "the largest")},
		"at most a few = 3 are claimed by the first":                    {bound(4, "four"), bound(3, "the first"), bound(3, "the second")},
	} {
		if got := OvertakingBound(claims, dme.Setting{Nodes: 5}, false).Describe(7); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
