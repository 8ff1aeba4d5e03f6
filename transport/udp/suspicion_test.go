package udp

import (
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// impairedRaw is a layer below that says what is done to its links.
type impairedRaw struct {
	transport.Transport
	x transport.Impairment
}

func (r *impairedRaw) Impairment(_, _ dme.NodeID) transport.Impairment { return r.x }

// suspect is the link with a peer that was asked at the instant 1 and never answers.
func suspect(t *testing.T, processes int, c transport.Config, x transport.Impairment) *association {
	t.Helper()
	c.Nodes, c.Local = processes, []dme.NodeID{1}
	book := make(transport.AddressBook, processes)
	for i := range book {
		book[i] = "of " + dme.NodeID(i+1).String()
	}
	top, err := peers.NewTopology[association]("udp", book, &c)
	if err != nil {
		t.Fatal(err)
	}
	r := &reliable{below: &impairedRaw{x: x}, config: c, limits: defaultLimits(), top: top}
	l := &association{t: r, process: top.At(1), asked: 1}
	return l
}

// giveUp lets attempts fail, whose timeouts are over every so often and are seen so
// late, and returns after how many the peer is taken for dead; 0 if not within many.
func giveUp(l *association, every, late time.Duration) (attempts int, after time.Duration) {
	now := instant(1)
	for attempts = 1; attempts <= 5000; attempts++ {
		now += every
		l.out.timeout = now
		if l.dead(now+late, 0) {
			return attempts, now
		}
	}
	return 0, 0
}

func TestSuspicionGoesByWhatWasTried(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name             string
		processes        int
		patience         time.Duration
		x                transport.Impairment
		every, late      time.Duration
		attempts         int // 0: never
		longest, soonest time.Duration
	}{
		{"seldom asked", 2, 0, transport.Impairment{}, second, 0, 8, 9 * second, 8 * second},
		{"often asked", 2, 0, transport.Impairment{}, second / 10, 0, 50, 6 * second, 5 * second},
		{"among a thousand", 1000, 0, transport.Impairment{}, second, 0, 39, 40 * second, 39 * second},
		{"which this process sees late", 1000, 0, transport.Impairment{}, second, 2 * asleep, 0, 0, 0},
		{"loss of 0.3 each way", 2, 0, transport.Impairment{Loss: 0.51}, second, 0, 42, 43 * second, 40 * second},
		{"loss of 0.2 each way", 2, 0, transport.Impairment{Loss: 0.36}, second, 0, 28, 29 * second, 27 * second},
		{"partition", 2, 0, transport.Impairment{Loss: 1}, second, 0, 0, 0, 0},
		{"delay of 6 s each way", 2, 0, transport.Impairment{Delay: 12 * second}, second, 0, 17, 18 * second, 17 * second},
		{"a pause of 30 s is to come", 2, 30 * second, transport.Impairment{}, second, 0, 35, 36 * second, 35 * second},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := suspect(t, c.processes, transport.Config{Patience: c.patience}, c.x)
			attempts, after := giveUp(l, c.every, c.late)
			if attempts != c.attempts || after > c.longest || after < c.soonest {
				t.Errorf("dead after %d attempts and %v; want %d, and from %v to %v", attempts, after, c.attempts, c.soonest, c.longest)
			}
		})
	}
}

// What was tried while a partition lasted does not count after it.
func TestSuspicionBeginsAnewAfterAPartition(t *testing.T) {
	l := suspect(t, 2, transport.Config{}, transport.Impairment{Loss: 1})
	below := l.t.below.(*impairedRaw)
	now := instant(1)
	try := func(times int) (dead bool) {
		for range times {
			now += time.Second
			l.out.timeout = now
			dead = dead || l.dead(now, 0)
		}
		return dead
	}
	if try(100) {
		t.Error("dead for a partition")
	}
	below.x = transport.Impairment{Loss: 0.1, What: "loss=0.05"}
	if enough := l.t.enough(0.1); try(enough-1) || !try(1) {
		t.Errorf("not dead after just the %d attempts since the partition ended", enough)
	}
	if err := l.silent(now); !strings.Contains(err.Error(), "12 attempts") || !strings.Contains(err.Error(), "loss=0.05") {
		t.Errorf("%v; want the attempts and what was injected", err)
	}
}

// A partition that lasts longer than a peer may be silent is no death: what waited
// arrives once it is healed.
func TestAPartitionIsNoDeath(t *testing.T) {
	noLeaks(t)
	l := defaultLimits()
	l.silence, l.tries, l.idle = time.Second, 3, 50*time.Millisecond
	var cut link.Cut
	o := Options{Between: func(r transport.Transport) transport.Transport {
		return link.Wrap(r, link.Config{Cut: &cut, LargestFrame: LargestFrame(Raw)})
	}}
	j := newJournal()
	ts := openAll(t, l, func(int) Options { return o }, transporttest.NewKey(), func(int) transport.Handler { return j }, 1, 1)
	send := func(s string) {
		if err := ts[0].Send(1, 2, []byte(s)); err != nil {
			t.Fatal(err)
		}
		ts[0].Flush()
	}
	arrived := func(n int) func() bool { return func() bool { return len(j.frames) == n } }
	send("before")
	j.wait(t, "a frame", arrived(1))
	if err := cut.Partition(1, [][]dme.NodeID{{1}, {2}}); err != nil {
		t.Fatal(err)
	}
	send("meanwhile")
	// Longer than both would have waited, with all the attempts that they need.
	time.Sleep(4 * l.silence)
	cut.Heal(1)
	j.wait(t, "the frame that waited", arrived(2))
	if len(j.downs) > 0 {
		t.Errorf("down: %v, %v", j.downs, j.cause)
	}
}
