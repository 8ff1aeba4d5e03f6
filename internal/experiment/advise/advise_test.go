package advise

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/report/rank"
	"dmebench/runs"
)

func question() Question {
	return Question{
		Nodes: 5, Rate: 100, CS: "1ms", Delay: time.Millisecond, Law: "constant", Transport: "tcp", Repetitions: 6, Seed: 1,
	}
}

func ask(t *testing.T, q Question) *Advice {
	t.Helper()
	t.Setenv("TMPDIR", "/dev/null") // advice leaves nothing on the disk, not even if it is killed
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	a, err := Ask(t.Context(), q, Options{Catalog: algorithms.All(), Run: simulated})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func simulated(ctx context.Context, job *run.Job, _ func(*runs.Result) error) (*runs.Result, error) {
	return sim.Run(ctx, job)
}

func (a *Advice) ranks() []string {
	var labels []string
	for _, e := range a.contest.Entrants {
		labels = append(labels, e.Label)
	}
	return labels
}

// All sound algorithms take part, and those that cannot run are named with the reason.
func TestAsk(t *testing.T) {
	a := answered()
	ranked := a.ranks()
	for _, algorithm := range algorithms.All() {
		leftOut := slices.ContainsFunc(a.LeftOut, func(l LeftOut) bool { return slices.Contains(l.Algorithms, algorithm.Name) })
		part := slices.Contains(ranked, algorithm.Name)
		if part == (leftOut || algorithm.AsPublished) {
			t.Errorf("%s takes part: %v, is left out: %v", algorithm.Name, part, leftOut)
		}
	}
	if !slices.Contains(ranked, a.Choose) || a.Measure == "" || len(a.Unknown) < 2 || len(a.Sure) == 0 {
		t.Errorf("%+v", a)
	}
	var text strings.Builder
	if err := a.WriteText(&text, layout.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"5 nodes over tcp, 20 requests per second per node, 100 in all", "T = 1 ms (constant)", "choose       " + a.Choose,
		"needs a bound on message delay, which tcp does not have", "how sure", "not known", a.Measure,
	} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the text does not say %q:\n%s", want, &text)
		}
	}
}

func TestCrashTolerant(t *testing.T) {
	q := question()
	q.Survive = []string{"crash"}
	a := ask(t, q)
	for _, name := range a.ranks() {
		i := slices.IndexFunc(algorithms.All(), func(x *dme.Algorithm) bool { return x.Name == name })
		if i < 0 || algorithms.All()[i].Survives == nil {
			t.Errorf("%s does not survive crashes", name)
		}
	}
	if want := a.Choose + ": goes on when a node crashes, goes on when one pauses, stops when one is cut off"; a.IfNodesFail != want {
		t.Errorf("%s, want %s", a.IfNodesFail, want)
	}
	b, _ := json.Marshal(a)
	again, _ := json.Marshal(ask(t, q))
	if !bytes.Equal(b, again) {
		t.Error("the same question has another answer")
	}
	if len(a.ranks()) < 2 || slices.ContainsFunc(a.Unknown, func(s string) bool { return strings.Contains(s, "crash") }) {
		t.Errorf("%v, %v", a.ranks(), a.Unknown)
	}
}

// Handing over takes T, and a critical section as long: no algorithm serves more than 500 requests
// per second. Two messages, as through a coordinator, leave 333, and the entries that need none.
func TestRatesNearTheLimit(t *testing.T) {
	for rate, serves := range map[float64]map[string]bool{
		300: {"centralized": true, "suzuki-kasami": true},
		// The next in its ring is the next node only if all of them always wait.
		400: {"ricart-agrawala-ring": false}, 450: {"centralized": false, "suzuki-kasami": true},
		480: {"naimi-trehel": true, "ricart-agrawala": true}, 510: {"naimi-trehel": false, "ricart-agrawala": false, "suzuki-kasami": false},
	} {
		q := question()
		q.Rate, q.Repetitions = rate, 2
		a := ask(t, q)
		for name, want := range serves {
			if slices.Contains(a.Behind, name) == want {
				t.Errorf("%v requests per second: %s serves them: %v", rate, name, !want)
			}
		}
	}
}

// A load that nobody serves is said to be one, and a token that would circulate for hours
// is left out.
func TestLoadsThatCannotBe(t *testing.T) {
	q := question()
	q.Rate, q.Repetitions = 2000, 2
	if a := ask(t, q); a.Choose != "" || len(a.Sure) != 1 || !strings.Contains(a.Sure[0], "no algorithm serves 2000 requests") ||
		len(a.Behind) != len(a.ranks()) {
		t.Errorf("%q, %q, behind: %v", a.Choose, a.Sure, a.Behind)
	}
	q = question()
	q.Rate, q.Delay, q.Repetitions = 1, 10*time.Microsecond, 2
	a := ask(t, q)
	if slices.Contains(a.ranks(), "token-ring") || a.Choose == "" {
		t.Errorf("chosen %q among %v", a.Choose, a.ranks())
	}
	q = question()
	q.Rate, q.Repetitions = 0, 2
	if a := ask(t, q); a.contest.By != runs.Throughput || a.Choose == "" || !strings.Contains(a.Measure, "--workload saturate") {
		t.Errorf("by %s: %s, %s", a.contest.By, a.Choose, a.Measure)
	}
}

func TestQuestionsThatCannotBe(t *testing.T) {
	for want, spoil := range map[string]func(*Question){
		"want at least 2":                func(q *Question) { q.Nodes = 1 },
		"want one above 0":               func(q *Question) { q.Delay = 0 },
		"want a duration such as 2ms":    func(q *Question) { q.CS = "2" },
		"name the network that":          func(q *Question) { q.Transport = "sim" },
		"did you mean 'tcp'?":            func(q *Question) { q.Transport = "tpc" },
		"percentiles there are p50":      func(q *Question) { q.Metric = "p98" },
		"is a condition of a run":        func(q *Question) { q.Metric = "offered" },
		"repetitions: want at least 1":   func(q *Question) { q.Repetitions = 0 },
		"a rate of -1: want one above 0": func(q *Question) { q.Rate = -1 },
	} {
		q := question()
		spoil(&q)
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	q := question()
	q.Survive = []string{"crash"} // of few algorithms
	if q.Metric = "messages"; q.Check() != nil || ask(t, q).contest.By != runs.MessagesPerCS {
		t.Error("the metric does not decide")
	}
}

// planted is advice about runs that were made up: of each algorithm the waiting time at
// the 99th percentile, messages for an entry, and how many entries per second it can make. Arrivals
// double that time from one end of the repetitions to the other: the same one for all
// algorithms, unless the fourth number is 1. At a rate of 0 all nodes always wait.
func planted(rate float64, algorithms map[string][4]float64) *Advice {
	a := &Advice{Question: question(), Requests: most, Sure: []string{}, set: &runs.Set{}, Capacity: make(map[string]float64)}
	a.Question.Rate = rate
	load := map[bool]string{true: "saturate", false: "poisson"}[rate == 0]
	for name, x := range algorithms {
		a.Capacity[name] = x[2]
		for k := range 10 {
			messages, throughput := x[1], min(x[2], cmp.Or(rate, x[2]))
			r := &runs.Result{
				Algorithm: name, Nodes: 5, Transport: "sim", Workload: load, Seed: uint64(k + 1), Status: runs.OK, Entries: 100,
				Throughput: &throughput,
				Spec:       runs.Spec{Algorithm: name, Nodes: 5, Transport: "sim", Workload: load, TotalRate: rate},
			}
			r.Messages.PerCS = &messages
			bad := k
			if x[3] == 1 {
				bad = 9 - k
			}
			wait := int64(x[0] * 1e6 * (1 + float64(bad)/9))
			r.WaitingTime = &runs.Quantiles{Count: 100, P50: wait, P99: wait}
			a.set.Runs = append(a.set.Runs, runs.Run{Label: name, Repetition: k, Result: r})
		}
	}
	slices.SortStableFunc(a.set.Runs, func(x, y runs.Run) int { return strings.Compare(x.Label, y.Label) })
	a.Ranking, _ = rank.Of(a.set, rank.Options{})
	a.contest = &a.Ranking.Contests[0]
	a.conclude()
	return a
}

func TestConclusions(t *testing.T) {
	for _, c := range []struct {
		name       string
		algorithms map[string][4]float64
		choose     string
		says       string
	}{
		{"the fastest", map[string][4]float64{"a": {10, 9, 100}, "b": {20, 3, 100}}, "a", "its waiting time p99 is 15"},
		{"the cheaper of two that are as good", map[string][4]float64{"a": {10, 9, 100}, "b": {10.4, 3, 100}, "c": {20, 1, 100}},
			"b", "a is as good in this respect, and b needs the fewest messages of them"},
		{"what each repetition tells apart, and no test of all values", map[string][4]float64{"a": {10, 9, 100}, "b": {12, 3, 100}},
			"a", "its waiting time p99 is 15"},
		{"what may be as good", map[string][4]float64{"a": {10, 9, 100}, "b": {12, 3, 100, 1}}, "b", "a is as good in this respect"},
		{"whose messages are as many", map[string][4]float64{"a": {10, 3, 100}, "b": {10.4, 3, 100}}, "a", "none of them needs fewer messages"},
		{"who does not serve all", map[string][4]float64{"a": {1, 1, 50}, "b": {20, 3, 100}}, "b", "its waiting time p99 is 30"},
	} {
		a := planted(100, c.algorithms)
		if a.Choose != c.choose || !strings.Contains(a.Why, c.says) {
			t.Errorf("%s: %s: %s; want %s: %q", c.name, a.Choose, a.Why, c.choose, c.says)
		}
	}
	if a := planted(100, map[string][4]float64{"a": {1, 1, 50}, "b": {20, 3, 100}}); !slices.Equal(a.Behind, []string{"a"}) {
		t.Errorf("behind: %v", a.Behind)
	}
	for served, want := range map[float64]string{80: "a", 95: "b"} { // of a throughput more is better
		if a := planted(0, map[string][4]float64{"a": {10, 9, 100}, "b": {10, 3, served}}); a.contest.By != runs.Throughput || a.Choose != want {
			t.Errorf("%v of 100 entries per second: by %s, %s, want %s", served, a.contest.By, a.Choose, want)
		}
	}
	close := "a serves at most 100 requests per second: so close to the limit"
	for rate, want := range map[float64]bool{79: false, 81: true} {
		if a := planted(rate, map[string][4]float64{"a": {1, 1, 100}}); strings.Contains(strings.Join(a.Sure, "\n"), close) != want {
			t.Errorf("%v: %q", rate, a.Sure)
		}
	}
}
