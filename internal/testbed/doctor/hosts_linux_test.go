package doctor

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/internal/testkit/netns"
)

// distant is the argument that makes this test's program open a gate on the host on
// which it finds itself, and try other gates as it is told on standard input.
const distant = "gate"

// order is what such a program is told; the first of them opens the gate.
type order struct {
	Address string  `json:"address,omitempty"`
	Name    string  `json:"name,omitempty"`
	Key     []byte  `json:"key,omitempty"`
	Reach   []Doors `json:"reach,omitempty"`
}

// TestDistant is no test of its own: it is what others start on other hosts.
func TestDistant(t *testing.T) {
	if !slices.Contains(os.Args, distant) {
		t.Skip("is started by other tests")
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var o order
	if err := in.Decode(&o); err != nil {
		t.Fatal(err)
	}
	g, err := OpenGate(o.Address, o.Name, o.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	err = out.Encode(g.Doors())
	for err == nil {
		o = order{}
		if err = in.Decode(&o); err == nil {
			err = out.Encode(g.ReachAll(context.Background(), o.Reach, 20))
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
}

// gateAt is a gate on another host.
type gateAt struct {
	doors Doors
	in    *json.Encoder
	out   *json.Decoder
}

// gates opens a gate on each host of a testbed.
func gates(t *testing.T, bed *netns.Testbed) (hosts []Host, all []gateAt) {
	t.Helper()
	for _, h := range bed.Hosts {
		in, out := h.Self("-test.run=^TestDistant$", distant)
		g := gateAt{in: json.NewEncoder(in), out: json.NewDecoder(out)}
		if err := g.in.Encode(order{Address: h.Address, Name: h.Name, Key: testKey}); err != nil {
			t.Fatal(err)
		}
		if err := g.out.Decode(&g.doors); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
		hosts = append(hosts, Host{Name: h.Name, Address: h.Address, Environment: environment.Describe()})
	}
	return hosts, all
}

// examineAll has every gate tried from every other host.
func examineAll(t *testing.T, hosts []Host, all []gateAt) *Report {
	t.Helper()
	begin := time.Now()
	var paths []Path
	for i, g := range all {
		var others []Doors
		for j, o := range all {
			if i != j {
				others = append(others, o.doors)
			}
		}
		var got []Path
		if err := g.in.Encode(order{Reach: others}); err != nil {
			t.Fatal(err)
		}
		if err := g.out.Decode(&got); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, got...)
	}
	return NewReport(hosts, paths, time.Since(begin))
}

// problems lists the problems of a report.
func problems(r *Report) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Between), func(f Finding) bool { return f.Level < Problem })
}

// TestHosts makes three hosts, one of them with a clock that is 50 ms ahead, and finds
// everything sound; then one whose cable is out, and then one with a firewall.
func TestHosts(t *testing.T) {
	t.Parallel()
	const ahead = 50 * time.Millisecond
	bed := netns.New(t, 3, netns.ClockAhead(3, ahead))
	hosts, all := gates(t, bed)

	r := examineAll(t, hosts, all)
	if p := problems(r); len(p) > 0 || len(r.Paths) != 6 {
		t.Errorf("sound hosts: %+v", r)
	}
	for _, p := range r.Paths {
		want := int64(0)
		if p.To == "h3" {
			want = int64(ahead)
		}
		if p.From == "h3" {
			want = -int64(ahead)
		}
		if p.OffsetNS == nil || max(*p.OffsetNS-want, want-*p.OffsetNS) > *p.BoundNS || *p.BoundNS > int64(ahead)/2 {
			t.Errorf("%s to %s: offset %v ± %v, want %d", p.From, p.To, p.OffsetNS, p.BoundNS, want)
		}
	}

	bed.Host(3).Cut()
	cut := problems(examineAll(t, hosts, all))
	if len(cut) != 2 || cut[0].Check != "reach-tcp" || cut[1].Check != "reach-udp" {
		t.Errorf("a cable is out: %+v", cut)
	}
	for _, f := range cut {
		if f.To != "h3" || f.From != "" || !strings.Contains(f.Do, bed.Host(3).Address) {
			t.Errorf("%+v", f)
		}
	}
	bed.Host(3).Mend()
	if got := problems(examineAll(t, hosts, all)); len(got) > 0 {
		t.Errorf("and in again: %+v", got)
	}

	// A firewall of h2 drops the datagrams that come from h1: neither gets an answer
	// from the other. The rule has to come before that for local addresses.
	firewall := bed.Host(2).Command("sh", "-c", "ip rule add pref 10 lookup local && ip rule add pref 5 ipproto udp from "+
		bed.Host(1).Address+" blackhole && ip rule del pref 0")
	if out, err := firewall.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := problems(examineAll(t, hosts, all))
	if len(got) != 2 {
		t.Fatalf("a firewall drops datagrams: %+v", got)
	}
	for i, pair := range [][2]string{{"h1", "h2"}, {"h2", "h1"}} {
		if f := got[i]; f.Check != "reach-udp" || f.From != pair[0] || f.To != pair[1] || !strings.Contains(f.Do, "a firewall drops udp") {
			t.Errorf("%+v", f)
		}
	}
}
