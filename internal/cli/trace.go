package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/playground/page"
	"dmebench/internal/record/recording"
	"dmebench/internal/record/spacetime"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload/fault"
)

func traceFormats() []string { return []string{"text", "svg", "shiviz", "perfetto", "mermaid"} }

// How many events of a recording are shown by default: as many as a person reads, or as a browser
// draws with ease.
const (
	firstEvents     = 200
	firstOfTimeline = 100_000
)

func (p *program) traceCommand() *cli.Command {
	return &cli.Command{
		Name:      "trace",
		Usage:     "show a scenario or a recorded run step by step, and draw its space-time diagram",
		ArgsUsage: "FILE",
		UsageText: "dmebench trace ricartagrawala/figures-a-to-j --svg figure.svg\n" +
			"dmebench run maekawa -n 3 --requests 6 --trace run.jsonl && dmebench trace run.jsonl",
		Description: "The argument is the name of a built-in scenario ('dmebench list scenarios'), a scenario in a file,\n" +
			"or a recording of 'dmebench run --trace'. If a scenario states the outcomes of its steps and others\n" +
			"follow, the difference is printed and the exit code is 1.\n\n" +
			"shiviz is a log with vector clocks, perfetto is for ui.perfetto.dev, mermaid is for Markdown.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "scenario", Usage: "play the built-in scenario `NAME`"},
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "play the scenario in `FILE`, or show the recording"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "print `FORMAT`: " + strings.Join(traceFormats(), ", ")},
			&cli.StringFlag{Name: "out", Usage: "write that to `FILE` instead of standard output"},
			&cli.StringFlag{Name: "svg", Usage: "also draw the diagram to `FILE`"},
			&cli.StringFlag{Name: "html", Usage: "write a page to `FILE`: a scenario to be played, a recording with zoom and search"},
			&cli.StringFlag{Name: "from", Usage: "begin a recording at `TIME`, such as 2.5ms, or at entry:N"},
			&cli.StringFlag{Name: "to", Usage: "end it at `TIME`, or with the exit of entry:N",
				DefaultText: fmt.Sprintf("after %d events, perfetto: %d", firstEvents, firstOfTimeline)},
			&cli.BoolFlag{Name: "rewrite", Usage: "write the outcomes of its steps into the file of a scenario"},
		},
		Action: p.trace,
	}
}

func (p *program) trace(c *cli.Context) error {
	if format := c.String("format"); !slices.Contains(traceFormats(), format) {
		return usage("trace: unknown format %q; there are %s", format, strings.Join(traceFormats(), ", "))
	}
	if (c.String("scenario") == "") == (c.String("file") == "") {
		return usage("trace: name a --scenario or a --file, one of them; 'dmebench list scenarios' shows what there is")
	}
	for _, name := range []string{"format", "out", "svg", "from", "to", "rewrite"} {
		if c.IsSet("html") && c.IsSet(name) {
			return usage("trace: --%s does not go with --html, a page of everything; leave one out", name)
		}
	}
	if c.String("file") == "" {
		return p.traceScenario(c, nil)
	}
	f, err := os.Open(c.String("file"))
	if errors.Is(err, fs.ErrNotExist) {
		name := c.String("file")
		return failWith(NoInput, fmt.Errorf("there is no file %s, and no scenario of that name%s; "+
			"'dmebench list scenarios' shows what there is", name, units.Hint(name, p.scenarioNames())))
	}
	if err != nil {
		return failWith(NoInput, err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	switch head, err := in.Peek(512); {
	case len(head) == 0 && errors.Is(err, io.EOF):
		return failWith(Data, fmt.Errorf("trace: %s is empty; want a scenario, or what 'dmebench run --trace FILE' has recorded",
			c.String("file")))
	case recording.Is(head):
		return p.traceRecording(c, in)
	}
	return p.traceScenario(c, in)
}

func (p *program) traceScenario(c *cli.Context, in io.Reader) error {
	for _, name := range []string{"from", "to"} {
		if c.IsSet(name) {
			return usage("trace: --%s is for a recording of 'dmebench run --trace'; a scenario is shown as a whole", name)
		}
	}
	file := c.String("file")
	if c.Bool("rewrite") && file == "" {
		return usage("trace: --rewrite is for a --file of your own")
	}
	s, readFile, err := p.scenario(c.String("scenario"), file, in)
	if err != nil {
		return err
	}
	a, err := p.catalog.Lookup(s.Algorithm)
	if err != nil {
		return failWith(Data, s.Refused(err))
	}
	if c.IsSet("html") {
		return p.writePlayground(c.Context, c.String("html"), s.Text())
	}
	played, err := s.Play(a, readFile)
	if err != nil {
		return failWith(Data, err)
	}
	shown := shown{format: c.String("format"), header: played.Header, events: played.Events, diagram: played.Diagram, text: played.Text}
	if err := p.showTrace(c, shown); err != nil {
		return err
	}
	difference := s.Difference(played.Text)
	switch {
	case c.Bool("rewrite"):
		if err := fileio.Write(file, played.Text); err != nil {
			return failWith(CantCreate, fmt.Errorf("--rewrite: cannot write %s: %w", file, err))
		}
	case difference != "":
		fmt.Fprintf(p.stderr, "dmebench: %s expects something else (-) than came out (+); if this is right, --rewrite writes it down\n%s",
			s.Name, difference)
		p.exit = Broken
	}
	return nil
}

func (p *program) traceRecording(c *cli.Context, in io.Reader) error {
	if c.Bool("rewrite") {
		return usage("trace: --rewrite is for a scenario; %s is the recording of a run", c.String("file"))
	}
	if c.IsSet("html") {
		return p.recordingPage(c, in)
	}
	part := recording.Part{Most: firstEvents}
	if c.String("format") == "perfetto" {
		part.Most = firstOfTimeline
	}
	if c.IsSet("to") {
		part.Most = 0
	}
	for name, bound := range map[string]*recording.Bound{"from": &part.From, "to": &part.To} {
		if c.IsSet(name) {
			var err error
			if *bound, err = recording.ParseBound(c.String(name)); err != nil {
				return usage("trace: --%s %v", name, err)
			}
		}
	}
	h, events, err := recording.Read(c.String("file"), in)
	if err != nil {
		return failWith(Data, err)
	}
	var last time.Duration // of what has been seen
	entries := 0
	r, err := spacetime.Record(h, func(yield func(recording.Event, error) bool) {
		events(func(e recording.Event, err error) bool {
			if last = time.Duration(e.At); e.What == dme.Enter {
				entries++
			}
			return yield(e, err)
		})
	}, part)
	if err != nil {
		return failWith(Data, err)
	}
	if len(r.Events) == 0 {
		return failWith(Data, fmt.Errorf("%s: there is no event between --from and --to; what comes before ends with entry:%d at %v",
			c.String("file"), entries, last))
	}
	if r.More {
		fmt.Fprintf(p.stderr, "dmebench: these are %d events; --from and --to choose others, such as --from entry:20 --to entry:25\n",
			part.Most)
		r.Caption = append(r.Caption, "The recording goes on.")
	}
	h.Whole = h.Whole && !r.More && !part.To.Given() // as far as is shown
	return p.showTrace(c, shown{format: c.String("format"), header: h, events: r.Events, diagram: r.Diagram})
}

// recordingPage writes a page of a recording, which must be readable as a whole.
func (p *program) recordingPage(c *cli.Context, in io.Reader) error {
	var text bytes.Buffer
	_, events, err := recording.Read(c.String("file"), io.TeeReader(in, &text))
	if err == nil {
		for _, e := range events {
			if err = e; err != nil {
				break
			}
		}
	}
	if err != nil {
		return failWith(Data, err)
	}
	html, err := page.RenderRecording(text.Bytes())
	if err != nil {
		return err
	}
	return p.writePage(c.String("html"), html)
}

// shown is what is to be shown, from any source.
type shown struct {
	format  string
	header  recording.Header
	events  []recording.Event
	diagram *spacetime.Diagram
	text    []byte // of a scenario
}

func (s *shown) write(w io.Writer) error {
	switch {
	case s.format == "svg":
		_, err := w.Write(s.diagram.SVG())
		return err
	case s.format == "shiviz":
		return recording.ShiViz(w, s.header, s.events)
	case s.format == "perfetto":
		return recording.Perfetto(w, s.header, s.events)
	case s.format == "mermaid":
		return recording.Mermaid(w, s.header, s.events)
	case s.text != nil:
		_, err := w.Write(s.text)
		return err
	}
	return recording.Text(w, s.header, s.events)
}

// showTrace prints what is asked for, or writes it to the files named.
func (p *program) showTrace(c *cli.Context, s shown) error {
	if file := c.String("out"); file != "" {
		if err := fileio.Stream(file, s.write); err != nil {
			return failWith(CantCreate, fmt.Errorf("--out %s: cannot write there: %w", file, err))
		}
	} else {
		var text bytes.Buffer // whole, so that a pipe that is not read is one error
		if err := s.write(&text); err != nil {
			return failWith(CantCreate, err)
		}
		if _, err := p.stdout.Write(text.Bytes()); err != nil {
			return failWith(CantCreate, err)
		}
	}
	if file := c.String("svg"); file != "" {
		if err := fileio.Write(file, s.diagram.SVG()); err != nil {
			return failWith(CantCreate, fmt.Errorf("--svg %s: cannot write there: %w", file, err))
		}
	}
	return nil
}

// A recording is bounded: maxEvents in all, and no fewer than minEvents of a node.
const (
	maxEvents = 1 << 20
	minEvents = 1 << 10
)

func traceFlag() cli.Flag {
	return &cli.StringFlag{Name: "trace", Usage: "record each event in `FILE`, for 'dmebench trace FILE'; on this host alone"}
}

// recorder keeps the recording of a run; nil if none is wanted.
type recorder struct {
	file string
	job  *run.Job
	kept *recording.Kept
}

// recorder refuses what cannot be recorded before anything starts.
func (p *program) recorder(c *cli.Context, job *run.Job, elsewhere bool) (*recorder, error) {
	file := c.String("trace")
	if file == "" {
		if c.IsSet("trace") {
			return nil, usage("--trace: into which file?")
		}
		return nil, nil
	}
	if elsewhere {
		return nil, usage("--trace: a recording puts the events of all nodes into one order, which the clocks of several hosts " +
			"cannot; run on this host alone, or with --transport sim")
	}
	for _, f := range job.Faults {
		if job.Network.Real() && f.Kind != fault.Pause && f.Kind != fault.Partition {
			return nil, usage("--trace: a process that comes or goes (%s) takes its part of the recording with it; "+
				"record this with --transport sim", f.Kind)
		}
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, failWith(CantCreate, fmt.Errorf("--trace %s: it is not a regular file; choose another name", file))
	}
	if err := fileio.Probe(filepath.Dir(file)); err != nil {
		return nil, failWith(CantCreate, fmt.Errorf("--trace %s: cannot write there: %w; choose another place", file, err))
	}
	return &recorder{file: file, job: job}, nil
}

func (r *recorder) ask(opt *coordinator.Options) {
	if r == nil {
		return
	}
	opt.Record = max(minEvents, maxEvents/r.job.Spec.Nodes)
	opt.Recorded = func(k recording.Kept) { r.kept = &k }
}

func (r *recorder) write(stderr io.Writer, quiet bool, of *runs.Result) error {
	switch {
	case r == nil:
		return nil
	case r.kept == nil:
		fmt.Fprintf(stderr, "dmebench: warning: there is no recording in %s: the run failed before its processes could hand it over\n", r.file)
		return nil
	}
	s := r.job.Spec
	h := recording.Header{
		Algorithm: s.Algorithm, Title: r.job.Algorithm.Title, Nodes: s.Nodes, Absent: r.job.Faults.Absent(), Kinds: r.job.Algorithm.Kinds,
		Set: s.Set, Transport: s.Transport, Workload: s.Workload, Seed: s.Seed, Clock: recording.Virtual,
		Dropped: r.kept.Dropped, Whole: r.kept.Dropped == 0 && (of.Status == runs.OK || of.Status == runs.Violated),
	}
	logs := recording.Logs{Algorithm: r.job.Algorithm, Kept: *r.kept, Repeats: !r.job.Guarantees().Reliable}
	if r.job.Network.Real() {
		h.Clock, logs.FromFirst, logs.Slack = recording.Host, true, clockSlack
	}
	if foreign.Is(s.Algorithm) {
		logs.Describe, h.Kinds = foreign.Describe, slices.Sorted(maps.Keys(of.Messages.ByKind))
	}
	count := 0
	err := fileio.Stream(r.file, func(w io.Writer) (err error) {
		count, err = recording.Write(w, h, recording.Merge(logs))
		return err
	})
	if err != nil {
		return failWith(CantCreate, fmt.Errorf("--trace %s: cannot write the recording: %w", r.file, err))
	}
	if r.kept.Dropped > 0 {
		fmt.Fprintf(stderr, "dmebench: warning: %s shows the beginning of the run: %d later events found no room; "+
			"make fewer requests to see all\n", r.file, r.kept.Dropped)
	}
	if !quiet {
		fmt.Fprintf(stderr, "dmebench: %d events recorded in %s; 'dmebench trace -f %s' shows them\n", count, r.file, r.file)
	}
	return nil
}

// clockSlack is by how much the clocks of two processes of a host may be apart.
const clockSlack = 100 * time.Microsecond
