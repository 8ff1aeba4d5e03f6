package exchange_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"dmebench/internal/platform/clock/exchange"
	"dmebench/internal/testkit/netns"
)

// asHost is the word with which the test starts itself on a host.
const asHost = "exchange-on-a-host"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asHost {
		if err := onHost(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// order is what a host is asked to do.
type order struct {
	Peer  exchange.Peer
	Count int
}

// outcome is what came of it.
type outcome struct {
	Path  exchange.Path
	Error string
}

// onHost opens a port and tells its address, and then probes as it is asked.
func onHost(address, name string) error {
	port, err := exchange.Listen(address+":0", name, []byte("the key of this test's run"))
	if err != nil {
		return err
	}
	defer port.Close()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(port.Address()); err != nil {
		return err
	}
	in := json.NewDecoder(os.Stdin)
	for {
		var o order
		if err := in.Decode(&o); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var done outcome
		if done.Path, err = port.Probe(context.Background(), o.Peer, o.Count); err != nil {
			done.Error = err.Error()
		}
		if err := out.Encode(done); err != nil {
			return err
		}
	}
}

// distant is a port on a host.
type distant struct {
	t    *testing.T
	peer exchange.Peer
	in   *json.Encoder
	out  *json.Decoder
}

func start(t *testing.T, h *netns.Host) *distant {
	t.Helper()
	in, out := h.Self(asHost, h.Address, h.Name)
	d := &distant{t: t, peer: exchange.Peer{Name: h.Name}, in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out))}
	if err := d.out.Decode(&d.peer.Address); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *distant) probe(peer exchange.Peer, count int) (done outcome) {
	d.t.Helper()
	if err := d.in.Encode(order{peer, count}); err != nil {
		d.t.Fatal(err)
	}
	if err := d.out.Decode(&done); err != nil {
		d.t.Fatal(err)
	}
	return done
}

// A clock that is really off, of a host with a network of its own, is found to be,
// within a bound that is smaller than that, between each two hosts. Where the link of
// one is cut, its peers say that nothing is answered.
func TestHostsWithClocksOfTheirOwn(t *testing.T) {
	off := []time.Duration{0, 50 * time.Millisecond, -1234567890}
	bed := netns.New(t, len(off), netns.ClockAhead(2, off[1]), netns.ClockAhead(3, off[2]))
	var hosts []*distant
	for _, h := range bed.Hosts {
		hosts = append(hosts, start(t, h))
	}
	for i, from := range hosts {
		for j, to := range hosts {
			if i == j {
				continue
			}
			want := int64(off[j] - off[i])
			var link exchange.Link
			for bound := int64(time.Hour); bound > int64(10*time.Millisecond); { // until the machine had a moment
				done := from.probe(to.peer, 20)
				if done.Error != "" {
					t.Fatal(done.Error)
				}
				link.Add(done.Path)
				for _, e := range done.Path.Exchanges {
					var offset int64
					offset, bound = link.Clock.Offset(e.Sent)
					if bound < 0 || offset-want > bound || want-offset > bound {
						t.Fatalf("%s seems to be %d ± %d ns ahead of %s, and is %d", to.peer.Name, offset, bound, from.peer.Name, want)
					}
				}
			}
		}
	}
	bed.Host(2).Cut()
	if done := hosts[0].probe(hosts[1].peer, 1); done.Error == "" || done.Path.Lost != 1 {
		t.Errorf("the link is cut, and %+v", done)
	}
	if done := hosts[0].probe(hosts[2].peer, 1); done.Error != "" {
		t.Error(done.Error)
	}
}
