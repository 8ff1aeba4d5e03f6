package agrawalelabbadi

import (
	"reflect"
	"testing"

	"dmebench/dme"
)

// Examples are judged by the sets that their texts name.
func TestSetsInATextAreRead(t *testing.T) {
	for text, want := range map[string][][]dme.NodeID{
		"none":                            nil,
		"0 of {1,2,3}, {4,1,6}, and more": {{1, 2, 3}, {1, 4, 6}},
		"1 of {7}":                        {{7}},
	} {
		if got := setsIn(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a set of something else is read")
		}
	}()
	setsIn("1 of {a,b}")
}

// On complete trees quorums are as large as the formula says. Of two sites the failure of
// the root leaves no quorum, none for (k−i)+2i = 2: the root has no second subtree.
func TestOffFormula(t *testing.T) {
	for n, want := range map[int]float64{1: 0, 2: 2, 3: 0, 7: 0, 15: 0} {
		if got := offFormula(n); got != want {
			t.Errorf("%d sites: off by %v, want %v", n, got, want)
		}
	}
}
