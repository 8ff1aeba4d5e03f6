package link

import (
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
