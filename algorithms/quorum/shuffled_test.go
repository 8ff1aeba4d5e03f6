package quorum

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

func prepared(t *testing.T, construction string, nodes int, seed uint64, labelling string) *System {
	t.Helper()
	s, err := Prepare(dme.Config{
		Nodes: nodes, Seed: seed, Options: dme.Options{OptionQuorum: construction, OptionWeights: "", OptionLabelling: labelling},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A shuffled plane is the plane with other names: all its properties stay, and the seed
// decides who stands where.
func TestShuffledLabelling(t *testing.T) {
	for _, construction := range []string{"plane", "grid"} {
		for _, n := range []int{1, 2, 3, 7, 8, 13, 31} {
			straight, mixed := prepared(t, construction, n, 5, natural), prepared(t, construction, n, 5, shuffled)
			a, b := straight.Properties(), mixed.Properties()
			for _, x := range []*Spread{&a.Sizes, &a.Loads, &b.Sizes, &b.Loads} {
				x.MinNode, x.MaxNode = 0, 0 // who they are has changed
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s, N=%d: %+v, and shuffled %+v", construction, n, a, b)
			}
			differ, other := false, false
			for id := dme.NodeID(1); int(id) <= n; id++ {
				set := mixed.RequestSet(id)
				if !slices.IsSorted(set) || !slices.Contains(set, id) {
					t.Errorf("%s, N=%d: S_%d = %v", construction, n, id, set)
				}
				for _, member := range set {
					if !slices.Contains(mixed.Served(member), id) {
						t.Errorf("%s, N=%d: %d asks %d, which does not serve it", construction, n, id, member)
					}
				}
				differ = differ || !slices.Equal(set, straight.RequestSet(id))
				other = other || !slices.Equal(set, prepared(t, construction, n, 6, shuffled).RequestSet(id))
			}
			if n >= 7 && (!differ || !other) {
				t.Errorf("%s, N=%d: shuffled %v, otherwise with another seed %v", construction, n, differ, other)
			}
		}
	}
	_, err := Prepare(dme.Config{Nodes: 7, Options: dme.Options{OptionQuorum: "tree", OptionWeights: "", OptionLabelling: shuffled}})
	if err == nil || !strings.Contains(err.Error(), "leave it at natural") {
		t.Errorf("a shuffled tree: %v", err)
	}
}
