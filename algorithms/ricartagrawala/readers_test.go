package ricartagrawala

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func wantInside(t *testing.T, net *conformance.Net, want ...dme.NodeID) {
	t.Helper()
	in := slices.Sorted(slices.Values(net.Inside()))
	if !slices.Equal(in, want) {
		t.Fatalf("%v are in the critical section, want %v\n%s", in, want, net.States())
	}
	if err := net.Err(); err != nil {
		t.Fatal(err)
	}
}

// All readers are in at once; a writer comes after all of them, alone.
func TestReadersShare(t *testing.T) {
	net := conformance.Make(t, ReadersWriters(), 5, nil)
	for i := dme.NodeID(1); i <= 4; i++ {
		net.Host(i).RequestShared()
	}
	net.Settle()
	wantInside(t, net, 1, 2, 3, 4)
	net.Request(5)
	net.Settle()
	wantInside(t, net, 1, 2, 3, 4)
	for i := dme.NodeID(1); i <= 4; i++ {
		net.Release(i)
		net.Settle()
	}
	wantInside(t, net, 5)
	net.Release(5)
	net.Settle()
	if sent := net.Sent(); sent != 5*2*4 {
		t.Errorf("%d messages for 5 entries, want 2(N−1) each", sent)
	}
}

// Readers who ask after a writer wait for it: they cannot shut it out.
func TestLateReadersWait(t *testing.T) {
	net := conformance.Make(t, ReadersWriters(), 3, nil)
	net.Host(1).RequestShared()
	net.Settle()
	net.Request(2)
	net.Settle()
	net.Host(3).RequestShared()
	net.Settle()
	wantInside(t, net, 1)
	net.Release(1)
	net.Settle()
	wantInside(t, net, 2)
	net.Release(2)
	net.Settle()
	wantInside(t, net, 3)
}

// The claim that writers are given priority is false: a reader that waits, and
// asked before the writer, goes before it.
func TestWritersHaveNoPriority(t *testing.T) {
	net := conformance.Make(t, ReadersWriters(), 3, nil)
	net.Request(1)
	net.Settle()
	net.Host(2).RequestShared()
	net.Settle()
	net.Request(3) // a writer waits …
	net.Settle()
	wantInside(t, net, 1)
	net.Release(1)
	net.Settle()
	wantInside(t, net, 2) // … and a reader that waits too enters
	if last := net.Entries[len(net.Entries)-1]; last.Node != 2 {
		t.Errorf("entries %+v", net.Entries)
	}
	net.Release(2)
	net.Settle()
	wantInside(t, net, 3)
	if e := net.Entries[len(net.Entries)-1]; e.Bypass != 1 {
		t.Errorf("the writer saw %d entries since it asked, want one", e.Bypass)
	}
	i := slices.IndexFunc(ReadersWriters().Claims, func(c dme.Claim) bool { return c.KnownFalse != "" })
	if i < 0 || !strings.Contains(ReadersWriters().Claims[i].Formula, "writers are given priority") {
		t.Error("the claim that this test refutes is not marked as false")
	}
}

// Readers have no order among themselves, and enter without a timestamp.
func TestReadersPassEachOther(t *testing.T) {
	net := conformance.Make(t, ReadersWriters(), 2, nil)
	net.Host(1).RequestShared()
	net.Deliver(1, 2, 0) // node 2 has heard, and asks with the larger number
	net.Host(2).RequestShared()
	net.Deliver(2, 1, 1)
	net.Deliver(1, 2, 0)
	wantInside(t, net, 2)
	net.Settle()
	wantInside(t, net, 1, 2)
	for _, e := range net.Entries {
		if !e.Stamp.IsZero() {
			t.Errorf("a reader with a timestamp: %+v", e)
		}
	}
}
