package doctor

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// between makes the paths between hosts at addresses 10.0.0.1, 10.0.0.2, …, whose
// clocks are ahead of the first one's by that many milliseconds each.
func between(names ...string) (hosts []Host, paths []Path) {
	const apart = 7 * time.Millisecond
	for i, from := range names {
		hosts = append(hosts, Host{Name: from, Address: "10.0.0." + string(rune('1'+i)), Environment: map[string]string{"cores": "2"}})
		for j, to := range names {
			if i == j {
				continue
			}
			offset, bound := int64(time.Duration(j-i)*apart), int64(20*time.Microsecond)
			paths = append(paths, Path{
				From: from, To: to, OffsetNS: &offset, BoundNS: &bound,
				TCP: Way{Sent: 20, RTTMin: 90e3, RTTMedian: 120e3, RTTMax: 400e3},
				UDP: Way{Sent: 20, RTTMin: 60e3, RTTMedian: 80e3, RTTMax: 300e3},
			})
		}
	}
	return hosts, paths
}

func cut(p *Path, udp bool) {
	w := Way{Sent: 20, Lost: 20, Error: "i/o timeout", Reason: "a firewall drops it"}
	if udp {
		p.UDP, p.OffsetNS, p.BoundNS = w, nil, nil
	} else {
		p.TCP = w
	}
}

// TestPaths plants one thing at a time between four hosts.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(*Path)
		want  []Finding // check, level, from and to, and part of what was found and is to be done
	}{
		{"one direction, UDP", func(p *Path) {
			if p.From == "b" && p.To == "c" {
				cut(p, true)
			}
		}, []Finding{{
			Check: "reach-udp", Level: Problem, From: "b", To: "c", Found: "b does not reach c by udp: i/o timeout",
			Do: "a firewall drops it; let udp from 10.0.0.2 to 10.0.0.3 pass",
		}}},
		{"to a host, TCP", func(p *Path) {
			if p.To == "d" {
				cut(p, false)
			}
		}, []Finding{{Check: "reach-tcp", Level: Problem, To: "d", Found: "no other host reaches d by tcp", Do: "agent --address"}}},
		{"to a host from two of three, TCP", func(p *Path) {
			if p.To == "d" && p.From != "c" {
				cut(p, false)
			}
		}, []Finding{
			{Check: "reach-tcp", Level: Problem, From: "a", To: "d", Found: "a does not reach d", Do: "from 10.0.0.1 to 10.0.0.4"},
			{Check: "reach-tcp", Level: Problem, From: "b", To: "d", Found: "b does not reach d", Do: "from 10.0.0.2 to 10.0.0.4"},
		}},
		{"from a host, TCP", func(p *Path) {
			if p.From == "d" {
				cut(p, false)
			}
		}, []Finding{{Check: "reach-tcp", Level: Problem, From: "d", Found: "d reaches no other host by tcp", Do: "let tcp from 10.0.0.4 pass"}}},
		{"a host altogether", func(p *Path) {
			if p.From == "a" || p.To == "a" {
				cut(p, false)
				cut(p, true)
			}
		}, []Finding{
			{Check: "reach-tcp", Level: Problem, To: "a", Found: "a and the other hosts do not reach one another by tcp", Do: "10.0.0.1"},
			{Check: "reach-udp", Level: Problem, To: "a", Found: "a and the other hosts do not reach one another by udp", Do: "10.0.0.1"},
		}},
		{"all, UDP", func(p *Path) { cut(p, true) }, []Finding{{
			Check: "reach-udp", Level: Problem, Found: "no host reaches any other one by udp",
			Do: "let udp pass between all hosts",
		}}},
		{"a long way", func(p *Path) {
			if p.From == "c" && p.To == "a" {
				p.UDP.RTTMedian = 30e6
			}
		}, []Finding{{Check: "round-trip", Level: Note, From: "c", To: "a", Found: "30 ms from c to a and back; 80 µs is usual"}}},
		{"loss", func(p *Path) {
			if p.From == "c" && p.To == "a" {
				p.UDP.Lost = 3
			}
		}, []Finding{{Check: "loss", Level: Warning, From: "c", To: "a", Found: "3 of 20 datagrams"}}},
		{"one that was lost", func(p *Path) {
			if p.From == "c" && p.To == "a" {
				p.UDP.Lost = 1
			}
		}, []Finding{{Check: "loss", Level: Note, From: "c", To: "a", Found: "1 of 20 datagrams"}}},
		{"a clock that was set meanwhile", func(p *Path) {
			if p.From == "b" && p.To == "a" {
				*p.OffsetNS += 50e6
			}
		}, []Finding{{Check: "clock-offsets", Level: Problem, Found: "differ by 50 ms", Do: "was set"}}},
		{"a clock that was set while two were compared", func(p *Path) {
			if p.From == "b" && p.To == "a" {
				p.OffsetNS, p.BoundNS, p.ContradictionNS = nil, nil, 50e6
			}
		}, []Finding{{Check: "clock-offsets", Level: Problem, From: "b", To: "a", Found: "set by at least 50 ms", Do: "settled"}}},
		{"clocks that agree in pairs alone", func(p *Path) { // b and d, each way
			switch {
			case p.From == "b" && p.To == "d":
				*p.OffsetNS += 1e6
			case p.From == "d" && p.To == "b":
				*p.OffsetNS -= 1e6
			}
		}, []Finding{{Check: "clock-offsets", Level: Problem, Found: "by way of", Do: "was set"}}},
	} {
		hosts, paths := between("a", "b", "c", "d")
		for i := range paths {
			c.plant(&paths[i])
		}
		got := slices.DeleteFunc(NewReport(hosts, paths, 0).Between, func(f Finding) bool { return f.Level == OK })
		same := slices.EqualFunc(got, c.want, func(g, w Finding) bool {
			return g.Check == w.Check && g.Level == w.Level && g.From == w.From && g.To == w.To &&
				strings.Contains(g.Found, w.Found) && strings.Contains(g.Do, w.Do)
		})
		if !same {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestDriftWhileMeasuring: what clocks may drift in the time that measuring took is no
// contradiction.
func TestDriftWhileMeasuring(t *testing.T) {
	hosts, paths := between("a", "b")
	*paths[0].OffsetNS += int64(time.Millisecond)
	if r := NewReport(hosts, paths, 0); r.Problems != 1 {
		t.Errorf("%+v", r.Between)
	}
	if r := NewReport(hosts, paths, time.Second); r.Problems != 0 {
		t.Errorf("%+v", r.Between)
	}
}

func TestWay(t *testing.T) {
	for _, c := range []struct {
		sent  int
		trips []time.Duration
		err   error
		want  Way
	}{
		{5, []time.Duration{4, 1, 9, 2}, nil, Way{Sent: 5, Lost: 1, RTTMin: 1, RTTMedian: 3, RTTMax: 9}},
		{3, nil, syscall.ECONNREFUSED, Way{Sent: 3, Lost: 3, Error: "connection refused",
			Reason: "nobody listens there, or a firewall rejects tcp"}},
	} {
		if w := newWay("tcp", c.sent, c.trips, c.err); w != c.want || w.Passes() != (c.trips != nil) {
			t.Errorf("%+v, want %+v", w, c.want)
		}
	}
}
