package report_test

import (
	"regexp"
	"strings"
	"testing"

	"dmebench/internal/runtime/stall"
	"dmebench/runs"
)

// A stalled run says why, and draws who waits for whom. Two drawings on one page,
// and the page itself, do not change each other's looks.
func TestStalledRunsSayWhy(t *testing.T) {
	in := crashed(t, "kill 3 @1s")
	for _, i := range []int{0, 3} {
		r := in.Runs[i].Result
		r.Status, r.Liveness = runs.Stalled, runs.Liveness{
			Stalled: true, Pending: 2, Why: []string{"1 waits for 3's REPLY; 3 is down since 1 s; so does 2"},
			Waits: []runs.Wait{{Node: 1, For: 3, What: "REPLY"}, {Node: 2, For: 3, What: "REPLY"}}, Waiting: []int{1, 2}, Down: []int{3},
		}
	}
	in.Picture = stall.Picture
	bad := build(t, in).page(t).Bad
	if len(bad) != 2 || len(bad[0].Why) != 1 {
		t.Fatalf("%+v", bad)
	}
	drawn := bad[0].Picture + bad[1].Picture
	if n := strings.Count(drawn, "a: who waits for whom") + strings.Count(drawn, "b: who waits for whom"); n < 2 {
		t.Errorf("%d graphs are drawn, want 2", n)
	}
	for _, name := range []string{"wait-a", "wait-b"} {
		if !strings.Contains(drawn, `<svg class="`+name+`" `) {
			t.Errorf("there is no drawing %s", name)
		}
		sheet := regexp.MustCompile(`(?s)<style>([^<]*\.` + name + ` [^<]*)</style>`).FindStringSubmatch(drawn)
		if sheet == nil {
			t.Fatalf("%s has no style sheet", name)
		}
		for line := range strings.Lines(sheet[1]) {
			if strings.Contains(line, "{") && !strings.HasPrefix(line, "."+name+" ") {
				t.Errorf("a rule of %s holds in the whole page: %s", name, line)
			}
		}
	}
}
