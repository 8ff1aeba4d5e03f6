package link

import (
	"math"
	"reflect"
	"testing"
	"time"

	"dmebench/dme"
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
