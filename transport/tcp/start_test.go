package tcp

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

func TestDialErrors(t *testing.T) {
	for name, c := range map[string]struct {
		key  transport.Key
		stop bool
		says string
	}{
		"refused":   {testKey, true, "is its worker running?"},
		"wrong key": {transporttest.NewKey(), false, "does that address belong to another run?"},
	} {
		t.Run(name, func(t *testing.T) {
			peer, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: c.key}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			if c.stop {
				peer.Close()
			}
			config := transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}

			config.Peers = []dme.NodeID{2}
			eager, err := Listen(config, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer eager.Close()
			e := transporttest.NewEvents()
			err = eager.Start(transport.AddressBook{eager.Addr(), peer.Addr()}, e)
			want := "dial node 2 (" + peer.Addr() + ")"
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Start: %v; want %q and %q", err, want, c.says)
			}

			config.Peers = nil
			lazy, err := Listen(config, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer lazy.Close()
			if err := lazy.Start(transport.AddressBook{lazy.Addr(), peer.Addr()}, e); err != nil {
				t.Fatal(err)
			}
			if err := lazy.Send(1, 2, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := next(t, "Down", e.Downs); !strings.Contains(err.Error(), c.says) {
				t.Errorf("Down: %v", err)
			}
		})
	}
}

func TestListenChecksItsConfiguration(t *testing.T) {
	_, err := Listen(transport.Config{Listen: "127.0.0.1:0", Nodes: 2, Peers: []dme.NodeID{3}}, Options{})
	for _, want := range []string{"key is zero", "no node lives", "node 3 is not one"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestStartChecksTheBook(t *testing.T) {
	for name, book := range map[string]transport.AddressBook{
		"too short":          {"a:1"},
		"an empty entry":     {"a:1", "", "b:1"},
		"another node here":  {"a:1", "a:1", "b:1"},
		"a local node there": {"a:1", "b:1", "c:1"},
	} {
		tr, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1, 3}, Nodes: 3, Key: testKey}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Start(book, transporttest.NewEvents()); err == nil {
			t.Errorf("%s: no error", name)
		}
		tr.Close()
	}
}
