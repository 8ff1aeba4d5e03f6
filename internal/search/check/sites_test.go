package check

import (
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
)

// In every schedule a message within a site is there before one that is sent between sites
// at the same time or later; between sites, messages overtake each other by jitter alone.
func TestMessagesTakeTheWaysBetweenSites(t *testing.T) {
	ways := func(far Way) [][]Way { return [][]Way{{{}, far}, {far, {}}} }
	for _, x := range []struct {
		name     string
		far      Way
		overtake bool
	}{
		{"steady", Way{Delay: 50 * time.Millisecond}, false},
		{"jitter", Way{Delay: 50 * time.Millisecond, Jitter: 30 * time.Millisecond}, true},
	} {
		s, err := New(ricartagrawala.Algorithm(), Options{
			Nodes: 4, Requests: 12, Schedules: 200, Unordered: true, Sites: &Sites{Of: []int{0, 0, 1, 1}, Ways: ways(x.far)},
		})
		if err != nil {
			t.Fatal(err)
		}
		overtaken := 0 // on links between sites
		for k := range int64(s.Schedules) {
			one, broken := s.schedule(k, nil)
			if broken != nil {
				t.Fatal(broken)
			}
			p, err := s.plan(s.Seed + uint64(k))
			if err != nil {
				t.Fatal(err)
			}
			trace, _ := s.replay(p, one.taken, false)
			type message struct {
				number uint64
				far    bool
			}
			var open []message // on their way, in the order of sending
			for _, e := range trace.Events {
				if e.Kind == dme.Receive {
					for i, m := range open {
						if m.number == e.Number {
							open = append(open[:i:i], open[i+1:]...)
							break
						}
						if far := s.Sites.Of[e.From-1] != s.Sites.Of[e.Node-1]; far && !m.far {
							t.Fatalf("%s, schedule %d: %v before message %d, which was sent before it within a site", x.name, k, e.Step, m.number)
						}
					}
					if e.Index > 0 {
						overtaken++
					}
				}
				for _, f := range e.Effects {
					if f.Kind == dme.Send {
						open = append(open, message{f.Number, s.Sites.Of[e.Node-1] != s.Sites.Of[f.To-1]})
					}
				}
			}
		}
		if x.overtake && overtaken == 0 {
			t.Errorf("%s: no message overtakes another on its link", x.name)
		}
	}
}
