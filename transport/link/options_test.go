package link

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

func TestOptions(t *testing.T) {
	defaults, err := dme.ResolveOptions(Options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(defaults)
	if err != nil || !c.Idle() || Describe(defaults) != "" {
		t.Errorf("by default %+v, %v, %q", c, err, Describe(defaults))
	}
	set, err := dme.ResolveOptions(Options(), map[string]string{
		"delay": "exp:1ms", "jitter": "2ms", "loss": "0.1", "dup": "0.2", "reorder": "0.3", "bandwidth": "1000",
		"partition": "1|2@1s-2s", "link-seed": "9", "links": "1-2:loss=0.5",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Seed: 9,
		All: Conditions{
			Delay: Delay{Shape: Exponential, Mean: time.Millisecond}, Jitter: 2 * time.Millisecond,
			Loss: 0.1, Duplication: 0.2, Reordering: 0.3, Bandwidth: 1000,
		},
		Rules: []Rule{{Link: Link{1, 2}, Conditions: Conditions{
			Delay: Delay{Shape: Exponential, Mean: time.Millisecond}, Jitter: 2 * time.Millisecond,
			Loss: 0.5, Duplication: 0.2, Reordering: 0.3, Bandwidth: 1000,
		}}},
		Partitions: []Partition{{From: time.Second, Until: 2 * time.Second, Groups: [][]dme.NodeID{{1}, {2}}}},
	}
	if c, err = Parse(set); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v, want %+v", c, err, want)
	}
	words := "delay=exp:1ms jitter=2ms loss=0.1 dup=0.2 reorder=0.3 bandwidth=1000 links=1-2:loss=0.5 partition=1|2@1s-2s"
	if got := Describe(set); got != words {
		t.Errorf("%q", got)
	}
	for name, value := range map[string]string{
		"delay": "x", "jitter": "-1s", "loss": "1.5", "dup": "NaN", "reorder": "", "bandwidth": "-1",
		"partition": "1", "links": "1-2", "link-seed": "-1",
	} {
		if _, err := dme.ResolveOptions(Options(), map[string]string{name: value}); err == nil {
			t.Errorf("%s=%s is accepted", name, value)
		}
		unchecked := dme.Options{}
		for k, v := range defaults {
			unchecked[k] = v
		}
		unchecked[name] = value
		if _, err := Parse(unchecked); err == nil {
			t.Errorf("%s=%s is parsed", name, value)
		}
	}
}

func TestParseDelay(t *testing.T) {
	for s, want := range map[string]Delay{
		"0":               {},
		"2ms":             {Mean: 2 * time.Millisecond},
		"uniform:1ms:3ms": {Shape: Uniform, Mean: 2 * time.Millisecond, Spread: time.Millisecond},
		"exp:500us":       {Shape: Exponential, Mean: 500 * time.Microsecond},
		"pareto:1ms:1.5":  {Shape: Pareto, Mean: time.Millisecond, Index: 1.5},
	} {
		if got, err := ParseDelay(s); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "1", "-1ms", "2h", "uniform:1ms", "uniform:3ms:1ms", "exp:", "exp:-1ms",
		"pareto:1ms", "pareto:1ms:1", "pareto:1ms:x", "pareto:1ms:NaN", "normal:1ms"} {
		if got, err := ParseDelay(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, got)
		}
	}
}

func TestDelaysHaveTheirMean(t *testing.T) {
	const n = 200_000
	for _, d := range []Delay{
		{Mean: time.Millisecond},
		{Shape: Uniform, Mean: time.Millisecond, Spread: time.Millisecond},
		{Shape: Exponential, Mean: time.Millisecond},
		{Shape: Pareto, Mean: time.Millisecond, Index: 3},
	} {
		var sum float64
		for k := range uint64(n) {
			r := newDraws(1, Link{1, 2}, k)
			x := d.draw(r.unit())
			if x < 0 || x > MaxDelay || d.Shape == Uniform && x > 2*time.Millisecond {
				t.Fatalf("%+v: drawn %v", d, x)
			}
			sum += float64(x)
		}
		if mean := sum / n; math.Abs(mean-float64(d.Mean)) > 0.02*float64(d.Mean) {
			t.Errorf("%+v: mean %v", d, time.Duration(mean))
		}
	}
	heavy := Delay{Shape: Pareto, Mean: time.Second, Index: 1.01}
	if x := heavy.draw(1 - 1e-16); x != MaxDelay {
		t.Errorf("the end of a heavy tail is %v, want it cut at %v", x, MaxDelay)
	}
}

func TestParsePartitions(t *testing.T) {
	got, err := ParsePartitions("1,2|4-6@1s-2.5s;3@0s-1ms")
	want := []Partition{
		{From: time.Second, Until: 2500 * time.Millisecond, Groups: [][]dme.NodeID{{1, 2}, {4, 5, 6}}},
		{Until: time.Millisecond, Groups: [][]dme.NodeID{{3}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, s := range []string{"", "1", "1@2s", "1@2s-1s", "1@a-b", "@1s-2s", "0@1s-2s", "2-1@1s-2s",
		"1|1@1s-2s", "1@1s-2s;", "x@1s-2s", "1-99999999@1s-2s"} {
		if got, err := ParsePartitions(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, got)
		}
	}
}

func TestParseRules(t *testing.T) {
	all := Conditions{Loss: 0.3, Jitter: time.Millisecond}
	got, err := parseRules("1-2:loss=0.1,delay=uniform:1ms:3ms;*-3@1s-2.5s:loss=1;*-*@0s-1ms:dup=0.5,reorder=0.25,bandwidth=9,jitter=0s", all)
	want := []Rule{
		{Link: Link{1, 2}, Conditions: Conditions{
			Loss: 0.1, Jitter: time.Millisecond, Delay: Delay{Shape: Uniform, Mean: 2 * time.Millisecond, Spread: time.Millisecond},
		}},
		{Link: Link{0, 3}, From: time.Second, Until: 2500 * time.Millisecond, Conditions: Conditions{Loss: 1, Jitter: time.Millisecond}},
		{Until: time.Millisecond, Conditions: Conditions{Loss: 0.3, Duplication: 0.5, Reordering: 0.25, Bandwidth: 9}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	for s, says := range map[string]string{
		"":                          "want FROM-TO",
		"1-2":                       "want FROM-TO",
		"1:loss=1":                  "not a link",
		"1-2:":                      "not NAME=VALUE",
		"1-2:loss":                  "not NAME=VALUE",
		"1-2:loss=1;":               "want FROM-TO",
		"1-2:los=1":                 "there are delay, jitter, loss, dup, reorder, bandwidth",
		"1-2:partition=none":        "not a condition of a link",
		"1-2:loss=2":                "not a number from 0 to 1",
		"1-2:loss=0.1,loss=0.2":     "twice",
		"1-2:delay=x":               "not a delay",
		"0-2:loss=1":                "neither a node number",
		"x-2:loss=1":                "neither a node number",
		"1-2-3:loss=1":              "neither a node number",
		"1-1:loss=1":                "no such link",
		"1-2@1s:loss=1":             "not FROM-UNTIL",
		"1-2@2s-1s:loss=1":          "after the beginning",
		"1-2@1s-x:loss=1":           "not a duration",
		"1-2@-1s-2s:loss=1":         "not a duration",
		"1-2:loss=1,1-3:loss=1":     "not a condition of a link",
		"1-2:bandwidth=1000000kb/s": "not a whole number of at least 0",
	} {
		if got, err := parseRules(s, Conditions{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v, want an error with %q", s, got, err, says)
		}
	}
}

func TestRulesOfNodesThatAreNotThere(t *testing.T) {
	c := Config{Rules: []Rule{{Link: Link{0, 3}}, {Link: Link{4, 1}}}}
	if err := c.CheckNodes(4); err != nil {
		t.Error(err)
	}
	if err := c.CheckNodes(3); err == nil || !strings.Contains(err.Error(), "4-1") {
		t.Errorf("%v, want an error that names the rule", err)
	}
}

// The first rule in force decides, whatever those behind it say; without one
// the link is as all are.
func TestTheFirstRuleInForceHolds(t *testing.T) {
	delay := func(d time.Duration) Conditions { return Conditions{Delay: Delay{Mean: d}} }
	c := Config{All: delay(1), Rules: []Rule{
		{Link: Link{1, 2}, From: 100, Until: 200, Conditions: delay(2)},
		{Link: Link{1, 0}, Until: 300, Conditions: delay(3)},
		{Link: Link{0, 2}, Conditions: delay(4)},
	}}
	for _, x := range []struct {
		link Link
		want map[time.Duration]time.Duration // now -> delay
	}{
		{Link{1, 2}, map[time.Duration]time.Duration{0: 3, 99: 3, 100: 2, 199: 2, 200: 3, 299: 3, 300: 4}},
		{Link{1, 3}, map[time.Duration]time.Duration{150: 3, 300: 1}},
		{Link{3, 2}, map[time.Duration]time.Duration{0: 4, 150: 4}},
		{Link{2, 1}, map[time.Duration]time.Duration{0: 1, 150: 1}},
	} {
		for now, want := range x.want {
			if f := c.Conditioner(x.link).Next(now, 1); f.Departure != now+want {
				t.Errorf("%v at %v: departs at %v, want a delay of %v", x.link, now, f.Departure, want)
			}
		}
	}
}

// A link whose delay ends keeps its order all the same.
func TestOrderIsKeptWhenTheRuleEnds(t *testing.T) {
	c := Config{Rules: []Rule{{Until: 10, Conditions: Conditions{Delay: Delay{Mean: 1000}}}}}
	link := c.Conditioner(Link{1, 2})
	if slow, fast := link.Next(9, 1), link.Next(10, 1); slow.Departure != 1009 || fast.Departure != 1009 {
		t.Errorf("frames depart at %v and %v, want both at 1009", slow.Departure, fast.Departure)
	}
}

func TestLongest(t *testing.T) {
	for _, x := range []struct {
		c       Conditions
		longest time.Duration
		bounded bool
	}{
		{Conditions{}, 0, true},
		{Conditions{Loss: 0.5}, 0, true},
		{Conditions{Delay: Delay{Shape: Uniform, Mean: 5, Spread: 3}, Jitter: 2}, 10, true},
		{Conditions{Reordering: 0.1}, DefaultHolding, true},
		{Conditions{Duplication: 0.1, Holding: 7}, 7, true},
		{Conditions{Delay: Delay{Shape: Exponential, Mean: 5}}, MaxDelay, false},
		{Conditions{Bandwidth: 1}, 0, false},
	} {
		c := Config{Rules: []Rule{{Link: Link{1, 2}, Conditions: x.c}}}
		if longest, bounded := c.Longest(); longest != x.longest || bounded != x.bounded {
			t.Errorf("%+v: %v, %v, want %v, %v", x.c, longest, bounded, x.longest, x.bounded)
		}
	}
}

func TestGuarantees(t *testing.T) {
	all := transport.Guarantees{Reliable: true, FIFO: true, Broadcast: true, SequencedBroadcast: true}
	for _, c := range []struct {
		config Config
		want   transport.Guarantees
	}{
		{Config{}, all},
		{Config{All: Conditions{Delay: Delay{Mean: 1}}}, transport.Guarantees{Reliable: true, FIFO: true}},
		{Config{All: Conditions{Loss: 0.1}}, transport.Guarantees{FIFO: true}},
		{Config{All: Conditions{Duplication: 0.1}}, transport.Guarantees{}},
		{Config{Rules: []Rule{{Link: Link{1, 2}, Conditions: Conditions{Reordering: 0.1}}}}, transport.Guarantees{Reliable: true}},
		{Config{Partitions: make([]Partition, 1)}, transport.Guarantees{FIFO: true}},
	} {
		if got := c.config.Guarantees(all); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.config, got, c.want)
		}
	}
}
