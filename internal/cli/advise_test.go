package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment"
	"dmebench/internal/experiment/advise"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
	"dmebench/transport/link"
)

// asked is what 'dmebench advise' answers to these flags.
func asked(t *testing.T, flags string) (text string) {
	t.Helper()
	p := tested()
	if err := p.carryOut(t.Context(), strings.Fields("advise --quiet --repetitions 2 "+flags)); err != nil {
		t.Fatalf("%s: %v", flags, err)
	}
	return p.stdout.(*bytes.Buffer).String()
}

func advised(t *testing.T, flags string) (a advise.Advice) {
	t.Helper()
	if err := json.Unmarshal([]byte(asked(t, flags+" --json")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// sweepOf is the runs of a 'dmebench sweep' command line, which is not carried out.
func sweepOf(t *testing.T, line string) []experiment.Cell {
	t.Helper()
	p := tested()
	words, ok := strings.CutPrefix(line, "dmebench ")
	if !ok {
		t.Fatal(line)
	}
	var plan *experiment.Plan
	app := p.app()
	for _, c := range app.Commands {
		if c.Name == "sweep" {
			c.Action = func(c *cli.Context) error {
				file, err := p.experimentOf(c)
				if err == nil {
					plan, err = file.Expand(p.catalog, nil)
				}
				return err
			}
		}
	}
	if err := app.RunContext(t.Context(), arrange(rootOf(p), strings.Fields(words))); err != nil || plan == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return plan.Cells
}

// The command that measures what was predicted resolves to the circumstances that were
// simulated: as many nodes, the same load, the same critical sections, messages that take
// as long, the same options and seeds.
func TestAdviceNamesWhatWasSimulated(t *testing.T) {
	questions := map[string]link.Delay{
		"-n 3 --delay uniform:3ms --rate 20 --cs exp:1ms --seed 5": {
			Shape: link.Uniform, Mean: 3 * time.Millisecond, Spread: 1500 * time.Microsecond,
		},
	}
	if testkit.Long() {
		maps.Copy(questions, map[string]link.Delay{
			"-n 3 --delay 2ms --total-rate 60 --cs 1ms":                 {Mean: 2 * time.Millisecond},
			"-n 4 --delay exp:150us --cs 100us":                         {Shape: link.Exponential, Mean: 150 * time.Microsecond},
			"-n 3 --delay 1ms --rate 2.5 --transport nats":              {Mean: time.Millisecond},
			"-n 3 --delay 1ms --rate 2.5 --transport udp --metric jain": {Mean: time.Millisecond},
			"-n 3 --delay 1ms --total-rate 20 --survive crash --cs 2ms": {Mean: time.Millisecond},
		})
	}
	for flags, delay := range questions {
		a := advised(t, flags)
		q, cells := a.Question, sweepOf(t, a.Measure)
		chosen := false
		for _, c := range cells {
			p := tested()
			simulated, err := run.Resolve(runs.Spec{
				Algorithm: c.Spec.Algorithm, Nodes: q.Nodes, Transport: runs.Sim, Workload: c.Spec.Workload, TotalRate: q.Rate, CS: q.CS,
				Requests: a.Requests, Seed: q.Seed + uint64(c.Repetition), Set: map[string]string{"t": q.Delay.String(), "delay": q.Law},
			}, p.catalog, nil)
			if err != nil {
				t.Fatal(err)
			}
			measured, err := run.Resolve(c.Spec, p.catalog, nil)
			if err != nil {
				t.Fatal(err)
			}
			chosen = chosen || c.Spec.Algorithm == a.Choose
			s, m := simulated.Spec, measured.Spec
			if m.Transport != q.Transport || m.Nodes != s.Nodes || m.Workload != s.Workload || m.Seed != s.Seed || m.CS != s.CS ||
				measured.Plan.OfferedRate() != simulated.Plan.OfferedRate() || measured.Plan.MeanHold() != simulated.Plan.MeanHold() ||
				!maps.Equal(measured.Options, simulated.Options) {
				t.Errorf("%s: simulated\n%+v\nto be measured\n%+v", flags, s, m)
			}
			if links := measured.Links(); links.All != (link.Conditions{Delay: delay}) {
				t.Errorf("%s: links %+v, want %+v", flags, links.All, delay)
			}
		}
		if !chosen || q.Repetitions != 2 || cells[len(cells)-1].Repetition != 1 {
			t.Errorf("%s: %s is not among what is measured, or %d times: %s", flags, a.Choose, len(cells), a.Measure)
		}
	}
}

// Where T is that of this machine, it is not added once more.
func TestAdviceOfThisMachine(t *testing.T) {
	q := advise.Question{
		Nodes: 3, CS: "1ms", Delay: time.Millisecond, Law: "constant", DelayMeasured: true, Transport: "tcp", Repetitions: 2, Seed: 1,
	}
	p := tested()
	a, err := advise.Ask(t.Context(), q, advise.Options{Catalog: p.catalog, Run: p.executeAndKeep})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range sweepOf(t, a.Measure) {
		if len(c.Spec.Set) > 0 {
			t.Errorf("%s: %v", a.Measure, c.Spec.Set)
		}
	}
}

// A rate means what it means everywhere: --rate of each node, --total-rate of all
// together, and the answer says both.
func TestRatesOfAdvice(t *testing.T) {
	each, text := advised(t, "-n 4 --delay 1ms --rate 5"), asked(t, "-n 4 --delay 1ms --total-rate 20")
	if each.Question.Rate != 20 || !strings.Contains(text, "\nmeasure it   "+each.Measure+"\n") ||
		!strings.Contains(each.Measure, "--total-rate 20 ") {
		t.Errorf("%v, %s\n%s", each.Question.Rate, each.Measure, text)
	}
	if !strings.Contains(text, "5 requests per second per node, 20 in all") {
		t.Error(text)
	}
	for _, c := range sweepOf(t, strings.Replace(each.Measure, "--total-rate 20", "--rate 5", 1)) {
		if c.Spec.Rate*4 != each.Question.Rate { // as 'sweep' and 'run' take it
			t.Errorf("%+v", c.Spec)
		}
	}
}
