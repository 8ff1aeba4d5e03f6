package check

import (
	"fmt"
	"testing"

	"dmebench/dme/vnet"

	"pgregory.net/rapid"
)

func TestVisitedIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, twin := new(visited), map[vnet.Hash]bool{}
		// Few different halves, so that shards and slots collide.
		half := rapid.Uint64Range(0, 40)
		for range rapid.IntRange(0, 600).Draw(t, "adds") {
			h := vnet.Hash{A: half.Draw(t, "a") << rapid.SampledFrom([]int{0, 8, 60}).Draw(t, "shift"), B: half.Draw(t, "b")}
			if h == (vnet.Hash{}) || h == (vnet.Hash{A: 1}) {
				continue // one and the same here
			}
			if v.add(h) == twin[h] {
				t.Fatalf("%v: new %v", h, !twin[h])
			}
			twin[h] = true
		}
	})
	v := new(visited)
	if !v.add(vnet.Hash{}) || v.add(vnet.Hash{}) {
		t.Error("the zero hash is not remembered")
	}
}

func TestAncestry(t *testing.T) {
	var a ancestry
	first, block := a.block()
	if first != 0 || block[0] != 0 {
		t.Fatalf("the first state is %d, from %v", first, block[0])
	}
	second, other := a.block()
	block[3] = originOf(0, 5)
	other[9] = originOf(3, 1<<moveBits-1)
	if got := a.path(second + 9); fmt.Sprint(got) != fmt.Sprint([]int{5, 1<<moveBits - 1}) {
		t.Errorf("path %v", got)
	}
	if got := a.path(0); len(got) != 0 {
		t.Errorf("path to the beginning %v", got)
	}
}
