package mem

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// diary is a handler that writes down what it is told, in order.
type diary struct {
	mu  sync.Mutex
	all []string
}

func (d *diary) write(s string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, s)
}

func (d *diary) Frame(_, _ dme.NodeID, b []byte) { d.write(string(b)) }
func (d *diary) Down(peer dme.NodeID, _ error)   { d.write("down " + peer.String()) }
func (d *diary) Up(peer dme.NodeID)              { d.write("up " + peer.String()) }
func (d *diary) expect(t *testing.T, all ...string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		d.mu.Lock()
		got := slices.Clone(d.all)
		d.mu.Unlock()
		if slices.Equal(got, all) {
			return
		}
		if len(got) > len(all) || time.Now().After(deadline) {
			t.Fatalf("told %q, want %q", got, all)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestReadmit(t *testing.T) {
	var network Network
	key := transporttest.NewKey()
	open := func(id dme.NodeID, incarnation uint32, absent ...dme.NodeID) *Transport {
		tr, err := Listen(&network, transport.Config{Nodes: 2, Local: []dme.NodeID{id}, Key: key, Incarnation: incarnation, Absent: absent})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		return tr
	}
	send := func(tr *Transport, from, to dme.NodeID, s string) {
		if err := tr.Send(from, to, []byte(s)); err != nil {
			t.Error(err)
		}
	}
	one, two := open(1, 0), open(2, 0)
	var told, reborn diary
	book := transport.AddressBook{one.Addr(), two.Addr()}
	if err := one.Start(book, &told); err != nil {
		t.Fatal(err)
	}
	if err := two.Start(book, new(diary)); err != nil {
		t.Fatal(err)
	}
	send(two, 2, 1, "first life")
	again := open(2, 2)
	if err := again.Start(transport.AddressBook{one.Addr(), again.Addr()}, &reborn); err != nil {
		t.Fatal(err)
	}
	send(one, 1, 2, "to the first")
	send(again, 2, 1, "second life") // before anybody knows of it
	if err := one.Readmit(2, again.Addr(), 2); err != nil {
		t.Fatal(err)
	}
	send(two, 2, 1, "late") // the first is not quite dead
	send(one, 1, 2, "to the second")
	told.expect(t, "first life", "down 2", "up 2", "second life")
	reborn.expect(t, "to the second")
	for _, err := range []error{
		one.Readmit(1, "x", 2), one.Readmit(3, "x", 2), one.Readmit(2, "x", 2), one.Readmit(2, "", 3),
	} {
		if err == nil {
			t.Error("misuse without an error")
		}
	}
	if err := one.Readmit(2, again.Addr(), 2); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := one.Expel(2, errors.New("it ended")); err != nil {
			t.Error(err)
		}
	}
	send(one, 1, 2, "to nobody")
	told.expect(t, "first life", "down 2", "up 2", "second life", "down 2")
	if n := one.Counters().RefusedFrames; n != 1 {
		t.Errorf("%d frames of an incarnation that was over refused, want 1", n)
	}
}

func TestAbsent(t *testing.T) {
	var network Network
	key := transporttest.NewKey()
	one, err := Listen(&network, transport.Config{Nodes: 2, Local: []dme.NodeID{1}, Key: key, Absent: []dme.NodeID{2}})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	var told, newcomer diary
	if err := one.Start(transport.AddressBook{one.Addr(), ""}, &told); err != nil {
		t.Fatal(err)
	}
	if err := one.Send(1, 2, []byte("to nobody")); err != nil {
		t.Error(err)
	}
	if err := one.Expel(2, errors.New("it ended")); err != nil {
		t.Error(err)
	}
	two, err := Listen(&network, transport.Config{Nodes: 2, Local: []dme.NodeID{2}, Key: key, Incarnation: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if err := two.Start(transport.AddressBook{one.Addr(), two.Addr()}, &newcomer); err != nil {
		t.Fatal(err)
	}
	if err := one.Readmit(2, two.Addr(), 2); err != nil {
		t.Fatal(err)
	}
	if err := one.Send(1, 2, []byte("welcome")); err != nil {
		t.Error(err)
	}
	newcomer.expect(t, "welcome")
	told.expect(t, "up 2")
}
