package link

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/mem"
	"dmebench/transport/transporttest"
)

// What is delayed on its way to a process that has ended does not reach the one that
// takes its place, be that at the address of the same network or not.
func TestDelayedFramesDoNotReachTheNextIncarnation(t *testing.T) {
	var network mem.Network
	key := transporttest.NewKey()
	open := func(id dme.NodeID, incarnation uint32, absent ...dme.NodeID) transport.Transport {
		tr, err := mem.Listen(&network, transport.Config{Nodes: 2, Local: []dme.NodeID{id}, Key: key, Incarnation: incarnation, Absent: absent})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		return tr
	}
	for _, absent := range [][]dme.NodeID{nil, {2}} {
		one, err := Wrap(open(1, 1, absent...), Config{All: Conditions{Delay: Delay{Mean: 50 * time.Millisecond}}})
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		two := open(2, 1)
		book := transport.AddressBook{one.Addr(), two.Addr()}
		if absent != nil {
			book[1] = ""
		}
		told := transporttest.NewEvents()
		if err := one.Start(book, told); err != nil {
			t.Fatal(err)
		}
		if err := one.Send(1, 2, []byte("to the first")); err != nil {
			t.Fatal(err)
		}
		newcomer := open(2, 2)
		e := transporttest.NewEvents()
		if err := newcomer.Start(transport.AddressBook{one.Addr(), newcomer.Addr()}, e); err != nil {
			t.Fatal(err)
		}
		if err := one.Readmit(2, newcomer.Addr(), 2); err != nil {
			t.Fatal(err)
		}
		if absent == nil != (len(told.Downs) == 1) {
			t.Errorf("Down was called %d times", len(told.Downs))
		}
		begun := time.Now()
		if err := one.Send(1, 2, []byte("to the second")); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-e.Frames:
			if got != "1>2 to the second" {
				t.Errorf("%q", got)
			}
			if took := time.Since(begun); took < 50*time.Millisecond {
				t.Errorf("the way to the next incarnation took %v only", took)
			}
		case <-time.After(time.Minute):
			t.Fatal("waited in vain")
		}
	}
}

// What does not know of incarnations beneath is not said to.
func TestReadmitNeedsItsLikeBeneath(t *testing.T) {
	tr, err := Wrap(struct{ transport.Transport }{}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Expel(2, nil) == nil || tr.Readmit(2, "x", 2) == nil {
		t.Error("no error")
	}
}
