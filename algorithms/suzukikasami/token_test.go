package suzukikasami

import (
	"testing"

	"dmebench/dme"
)

// A token that arrives has a number for each site and a queue of different sites, not of
// its receiver; what else bytes say is refused, however large.
func TestWellFormed(t *testing.T) {
	const n, receiver = 3, 2
	scratch := dme.MakeNodeSet(n)
	for _, x := range []struct {
		queue []uint64
		want  bool
	}{
		{nil, true}, {[]uint64{1}, true}, {[]uint64{3, 1}, true}, {[]uint64{1, 3}, true},
		{[]uint64{2}, false}, {[]uint64{1, 2}, false}, {[]uint64{1, 1}, false}, {[]uint64{1, 3, 1}, false}, {[]uint64{0}, false},
		{[]uint64{4}, false}, {[]uint64{200, 1}, false}, {[]uint64{1, 1 << 31, 3}, false}, {[]uint64{1<<32 + 1}, false},
	} {
		if got := append(token{7, 0, 9}, x.queue...).wellFormed(n, receiver, &scratch); got != x.want || !scratch.Empty() {
			t.Errorf("queue %v: well formed: %v; %d nodes are left in the set", x.queue, got, scratch.Len())
		}
	}
	if (token{1, 1}).wellFormed(n, receiver, &scratch) {
		t.Error("a token with two numbers for three sites")
	}
}
