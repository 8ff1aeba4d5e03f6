package claims

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// What is said of claims, word by word. Lines of a case that say something each:
//
//	loads SPEC                           the loads of a run, and whether they are isolated and on links with equal delays
//	mean MEAN±HALF±FAMILY TOLERANCE      how an estimate compares with a mean of 1; no interval without ±
//	bound MEAN±HALF±FAMILY TOLERANCE     the same with bounds of 1, from below and above
//	sample KIND PREDICTED VALUES…        how values compare with a claim; "of" before the extremes of entries
//	times KIND PREDICTED VALUES…         the same of times
//	bypass N                             how many entries of others a node saw in the run: whether it starved
//
// The others are what these and the verdict at the end are of:
//
//	claim CLAIM                          in JSON; and question QUESTION
//	point CONDITION N STANDING K=V…      a point that is off by 25%, of six runs; retried for one of another load
//	run SEED STATUS VIOLATIONS PENDING   counted by a tally; with "starved" where a node starved
//	result PATH VALUE                    of the run that bypass speaks of
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			testkit.Cases(t, file, func(t *testing.T, input []string) string {
				c := newCase(t)
				for _, line := range input {
					what, rest, _ := strings.Cut(line, " ")
					c.line(what, rest)
				}
				c.conclude()
				return strings.Join(c.out, "\n")
			})
		})
	}
}

type testCase struct {
	t                *testing.T
	q                *Question
	claimed          bool // q's claim is one of the algorithm
	points, retried  []Evidence
	judged, retrying bool
	tally            *Tally
	result           runs.Result
	out              []string
}

func newCase(t *testing.T) *testCase {
	ms := 1e6
	return &testCase{
		t: t, q: asked(claim.Claim{Kind: claim.Mean}),
		result: runs.Result{
			Spec: runs.Spec{Nodes: 8, Transport: runs.Sim, Workload: "saturate"}, Workload: "saturate", Entries: 2000, T: &ms, CS: &ms,
		},
	}
}

// asked is a question about a claim of some algorithm.
func asked(c claim.Claim) *Question {
	return &Question{Algorithm: &dme.Algorithm{Name: "a"}, Claim: c, NotRun: "--quick"}
}

func (c *testCase) say(format string, args ...any) {
	c.out = append(c.out, fmt.Sprintf(format, args...))
}

func (c *testCase) floats(words []string) (all []float64) {
	for _, word := range words {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

func (c *testCase) line(what, rest string) {
	words := strings.Fields(rest)
	switch what {
	case "claim":
		testkit.Set(c.t, &c.q.Claim, "", rest)
		c.claimed = true
	case "question":
		testkit.Set(c.t, c.q, "", rest)
	case "result":
		path, value, _ := strings.Cut(rest, " ")
		testkit.Set(c.t, &c.result, path, value)
	case "loads":
		var s runs.Spec
		testkit.Set(c.t, &s, "", rest)
		of := Of(s, true, true)
		c.say("%q isolated=%v equal=%v", of.Loads, of.Isolated(), of.EqualDelays)
	case "mean", "bound":
		c.estimate(what, words)
	case "sample", "times":
		c.sample(what, words)
	case "point", "retried":
		c.judged = true
		e := c.point(words)
		if what == "retried" {
			c.retried, c.retrying = append(c.retried, e), true
		} else {
			c.points = append(c.points, e)
		}
	case "judge":
		c.judged = true
	case "retry":
		c.retrying = true
	case "run":
		c.run(words)
	case "bypass":
		c.result.Fairness.MaxBypass = uint64(c.floats(words)[0])
		var claims claim.List
		if c.claimed {
			claims = append(claims, c.q.Claim)
		}
		bound := claim.OvertakingBound(claims, dme.Setting{Nodes: 8}, true)
		c.say("%s / %s", Starved(bound, &c.result), Overtaken(bound, &c.result))
	default:
		c.t.Fatalf("what is %q?", what)
	}
}

func (c *testCase) estimate(what string, words []string) {
	x := c.floats(strings.Split(words[0], "±"))
	e := estimate{mean: x[0], known: len(x) > 1}
	if e.known {
		e.half, e.family = x[1], x[2]
	}
	var t Tolerance
	if len(words) > 1 {
		t = Tolerance{Size: c.floats(words[1:])[0], Reason: "this"}
	}
	if what == "mean" {
		p := Point{Predicted: 1, Standing: Differs, Off: max(e.mean-1, 1-e.mean)}
		p.compareMean(&e, t)
		c.say("%s: %s%s", p.Standing, p.How, because(&p))
		return
	}
	for _, kind := range []claim.Kind{claim.UpperBound, claim.LowerBound} {
		p := Point{Predicted: 1, Standing: Differs}
		p.compareBound(kind, &e, t)
		c.say("%s %s: %s%s", kind, p.Standing, p.How, because(&p))
		e.mean = 2 - e.mean
	}
}

func because(p *Point) string {
	if p.Tolerance == 0 && p.ToleranceFor == "" {
		return ""
	}
	return fmt.Sprintf(" (%v for %s)", p.Tolerance, p.ToleranceFor)
}

var kinds = map[string]claim.Kind{"exact": claim.Exact, "mean": claim.Mean, "upper": claim.UpperBound, "lower": claim.LowerBound}

func (c *testCase) sample(what string, words []string) {
	s := sample{timed: what == "times", compared: 1000, tolerance: Tolerance{Size: 0.01, Reason: "this"}}
	x := c.floats(words[1:2])
	values, of := words[2:], slices.Index(words, "of")
	if of > 0 {
		values = words[2:of]
	}
	s.means = c.floats(values)
	s.least, s.most = slices.Min(s.means), slices.Max(s.means)
	if of > 0 {
		extremes := c.floats(words[of+1:])
		s.least, s.most = extremes[0], extremes[1]
	}
	p := s.point(kinds[words[0]], x[0])
	closest := ""
	if p.Closest != nil {
		closest = fmt.Sprintf(", closest %.12g", *p.Closest)
	}
	c.say("%s: %s%s, off by %.6g%s", p.Standing, p.How, because(&p), p.Off, closest)
}

func (c *testCase) point(words []string) Evidence {
	mean := 5.0
	s := Standing(words[2])
	e := Evidence{Point: Point{
		Condition: words[0], Transport: runs.Sim, Nodes: int(c.floats(words[1:2])[0]), Runs: 6, Predicted: 4, Mean: &mean,
		Agrees: s == Agrees, Standing: s, How: "off by 25%", Off: 0.25,
	}}
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		testkit.Set(c.t, &e.Point, name, value)
	}
	return e
}

func (c *testCase) run(words []string) {
	if c.tally == nil {
		c.tally = &Tally{}
	}
	x := c.floats([]string{words[0], words[2], words[3]})
	r := &runs.Result{Status: runs.Status(words[1]), Entries: 1000, Error: "of this", Spec: runs.Spec{Nodes: 4, Seed: uint64(x[0])}}
	r.Safety.Violations, r.Liveness.Pending = uint64(x[1]), uint64(x[2])
	c.tally.Add("serial", r)
	if len(words) > 4 {
		c.tally.Starved("serial", r, "starving: a node")
	}
}

func (c *testCase) conclude() {
	if c.tally != nil {
		for _, quantity := range []claim.Quantity{claim.Violations, claim.Unserved} {
			c.q.Claim.Quantity = quantity
			v := c.q.JudgeAll(*c.tally)
			c.say("%s: %s", quantity, v.Text)
		}
	}
	if !c.judged {
		return
	}
	v := c.q.Judge(c.points)
	if c.retrying {
		v.Retry(c.retried)
	}
	d := Document{Claims: []Verdict{v}}
	d.Count()
	c.say("%s", v.Text)
	if v.Text != string(v.Verdict)+v.Detail {
		c.t.Errorf("%+v", v)
	}
	rest := fmt.Sprintf("  %d runs, point %d", v.Runs, v.Shown)
	if d.Counts.ExactFailed > 0 {
		rest += ", an exact claim fails"
	}
	if v.Closest != nil {
		rest += fmt.Sprintf(", closest %.6g", *v.Closest)
	}
	for _, x := range v.Tolerances {
		rest += fmt.Sprintf(", %v for %s of %d", x.Size, x.Reason, x.Points)
	}
	c.out = append(c.out, strings.TrimSpace(rest))
}
