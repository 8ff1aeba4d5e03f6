package catalog_test

import (
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
)

// A gauge follows systems of any size, or all up to those of 64 nodes and none beyond.
// What is claimed of its quantity there is claimed of 64 nodes, too, and whoever says up
// to which size a claim is made says it as the gauge does.
func TestGaugesReachAsFarAsClaims(t *testing.T) {
	const most = 64
	limited, ends := 0, 0
	for _, a := range catalog.All() {
		for _, g := range a.Gauges {
			for _, c := range a.Claims {
				if c.Quantity != g.Quantity {
					continue
				}
				claimed, followed := map[int]bool{}, map[int]bool{}
				for n := most - 2; n <= most+2; n++ {
					s := settingOf(t, a, c, n)
					_, claimed[n] = c.Predict(s)
					followed[n] = g.Begin(s) != nil
					if !followed[n] && n <= most || followed[n] != followed[most+1] && n > most {
						t.Errorf("%s, %d nodes: %s is followed: %v", a.Name, n, g.Quantity, followed[n])
					}
				}
				if followed[most+1] {
					continue
				}
				limited++
				if claimed[most-1] && claimed[most-2] && !claimed[most] {
					t.Errorf("%s: made of %d nodes and not of %d", a.ClaimID(c), most-1, most)
				}
				if claimed[most+1] && !claimed[most+2] {
					t.Errorf("%s: made of %d nodes, of which nothing is followed", a.ClaimID(c), most+1)
				}
				if claimed[most] && !claimed[most+1] {
					ends++
				}
			}
		}
	}
	if limited == 0 || ends == 0 {
		t.Errorf("%d claims are of what is not followed in systems of any size, and %d end where that does", limited, ends)
	}
}

// settingOf is that of a claim in a system of so many nodes.
func settingOf(t *testing.T, a *dme.Algorithm, c dme.Claim, nodes int) dme.Setting {
	t.Helper()
	opt, err := a.Resolve(c.Set)
	if err == nil {
		err = a.CheckNodes(nodes, opt)
	}
	if err != nil {
		t.Fatalf("%s, %d nodes: %v", a.ClaimID(c), nodes, err)
	}
	sys, err := a.Prepare(dme.Config{Nodes: nodes, Seed: 1, Options: opt, Bound: 2 * time.Millisecond})
	if err != nil {
		t.Fatalf("%s, %d nodes: %v", a.ClaimID(c), nodes, err)
	}
	return dme.Setting{Nodes: nodes, Options: opt, System: sys, T: time.Millisecond, E: time.Millisecond}
}
