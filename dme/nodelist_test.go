package dme

import (
	"slices"
	"testing"
)

func TestListsOfNodes(t *testing.T) {
	for text, want := range map[string][]NodeID{
		"1": {1}, "7,2": {2, 7}, "3-5": {3, 4, 5}, "4-4": {4}, "1,3-5": {1, 3, 4, 5}, "2-4,3,1-2": {1, 2, 3, 4},
		"": nil, "0": nil, "0-2": nil, "5-3": nil, "x": nil, "1-x": nil, "x-1": nil, "1,": nil, "-3": nil, "3-": nil, "1-2-3": nil,
		"1048575": {1<<20 - 1}, "1048576": nil, "1-1048576": nil, // nobody means so many
	} {
		if got, err := ParseNodes(text); !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// What is written of any nodes is read as these, and has a range wherever there is one.
func TestListsOfNodesAreWritten(t *testing.T) {
	for want, nodes := range map[string][]NodeID{
		"": {}, "3": {3}, "1-2": {1, 2}, "1,3": {1, 3}, "1-3,5,7-8": {1, 2, 3, 5, 7, 8}, "9-12": {9, 10, 11, 12},
	} {
		if got := FormatNodes(nodes); got != want {
			t.Errorf("%v: %q, want %q", nodes, got, want)
		}
	}
	for some := 1; some < 1<<7; some++ {
		var nodes []NodeID
		for id := range NodeID(7) {
			if some>>id&1 == 1 {
				nodes = append(nodes, id+1)
			}
		}
		if got, err := ParseNodes(FormatNodes(nodes)); err != nil || !slices.Equal(got, nodes) {
			t.Errorf("%v became %q and then %v, %v", nodes, FormatNodes(nodes), got, err)
		}
	}
}
