package trace

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/recording"
	"dmebench/internal/record/spacetime"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/search/check"
)

// Played is what came of a scenario.
type Played struct {
	Text   []byte // of the scenario, with the outcomes as they are
	Header recording.Header
	Events []recording.Event
	Model  *vnet.Model // of the network it was played on
	Lines  []Line      // its comments and commands, in order
	*spacetime.Diagram
}

// Line is a comment of a scenario, or a command and the steps that it meant.
type Line struct {
	Text  string      `json:"text"`
	Steps []vnet.Step `json:"steps,omitempty"` // none of a comment, or of a command that only looks
}

// Play carries out a scenario of algorithm a and returns its text with the
// outcomes as they are, its events and its diagram. readFile serves options that name a
// file. A command that cannot be carried out is an error, as is a second node
// in the critical section, unless the scenario says that it breaks a property.
func (s *Scenario) Play(a *dme.Algorithm, readFile func(string) ([]byte, error)) (*Played, error) {
	model, err := s.model(a, readFile)
	if err != nil {
		return nil, err
	}
	p := &player{algorithm: a, tape: recording.NewTape(a), violates: s.Violates, repeats: s.Repeats}
	var lines []Line
	for _, l := range s.lines {
		p.text.WriteString(l.text + "\n")
		if l.command.word == "" {
			if comment, ok := strings.CutPrefix(l.text, "#"); ok {
				lines = append(lines, Line{Text: strings.TrimSpace(comment)})
			}
			continue
		}
		if p.network == nil {
			p.network = vnet.New(model)
			for i := range p.network.Started {
				p.tape.Start(&p.network.Started[i])
				p.outcomes(&p.network.Started[i])
			}
			p.watch()
		}
		before := len(p.steps)
		if err := p.carryOut(l.command); err != nil {
			return nil, s.at(l.number, fmt.Errorf("%s: %w", l.text, err))
		}
		lines = append(lines, Line{Text: l.text, Steps: p.steps[before:len(p.steps):len(p.steps)]})
	}
	p.conclude()
	h := recording.Header{
		Algorithm: s.Algorithm, Title: s.Title, Nodes: s.Nodes, Absent: s.Absent, Kinds: a.Kinds, Set: s.Set, Clock: recording.Steps,
	}
	return &Played{
		Text: []byte(p.text.String()), Header: h, Events: p.tape.Events, Model: model, Lines: lines, Diagram: s.draw(p),
	}, nil
}

func (s *Scenario) draw(p *player) *spacetime.Diagram {
	picture := spacetime.NewPainter(s.Nodes, s.Violates != "")
	picture.Title = s.Title
	picture.Absent(s.Absent)
	for i := range p.tape.Events {
		picture.Add(&p.tape.Events[i])
	}
	d := picture.Finish()
	if s.Violates == "" || p.network == nil {
		return d
	}
	for id := range p.network.IDs() {
		d.States = append(d.States, recording.Held(p.network.Node(id)))
	}
	if p.broken == nil {
		return d
	}
	check.Mark(d, p.broken)
	d.Loop = s.Repeats
	return d
}

// model is the network that the scenario is played on. Its handling of links and timers is up to
// it: an algorithm may meet there what its paper rules out, and panics if an invariant is then
// violated; that is reported as the scenario's fault.
func (s *Scenario) model(a *dme.Algorithm, readFile func(string) ([]byte, error)) (*vnet.Model, error) {
	settingsAt := cmp.Or(s.lineOf["set"], s.lineOf["algorithm"])
	opt, err := a.Resolve(s.Set)
	if err != nil {
		return nil, s.at(settingsAt, err)
	}
	if err := a.CheckNodes(s.Nodes, opt); err != nil {
		return nil, s.at(s.lineOf["nodes"], err)
	}
	model, err := vnet.NewModel(vnet.Config{
		Algorithm: a, Nodes: s.Nodes, Options: opt, Seed: s.Seed, ReadFile: readFile, Unordered: true, Lose: 1 << 30, Recover: true,
		Duplicate: true, Sequenced: s.onMedium(a, opt), Bypass: s.Bypass,
		Faults: s.faulty(), Absent: s.Absent, Restarts: s.Violates != "", Watch: vnet.WatchAlways,
	})
	if err != nil {
		return nil, s.at(settingsAt, err)
	}
	return model, s.watch(model)
}

// BeyondNeeds reports whether in a step something happens that the algorithm rules
// out: its invariants need not hold then.
func BeyondNeeds(m *vnet.Model, x vnet.Step) bool {
	needs := m.Algorithm.Needs(m.Options)
	switch x.Kind {
	case dme.Copy, dme.Lose:
		return needs.Reliable
	case dme.Receive:
		return needs.FIFO && x.Index > 0 || needs.SequencedBroadcast && !m.Sequenced
	case dme.Timeout:
		return needs.BoundedDelay
	}
	return false
}

// onMedium reports whether all nodes hear all broadcasts in one order, their own among them: if the
// scenario says so, and where the algorithm needs it. A counterexample is played on the links that
// it names, on which it was found.
func (s *Scenario) onMedium(a *dme.Algorithm, opt dme.Options) bool {
	return s.Sequenced || s.Violates == "" && a.Needs(opt).SequencedBroadcast
}

func (s *Scenario) faulty() bool {
	return s.Faults || len(s.Absent) > 0 || slices.ContainsFunc(s.lines, func(l line) bool {
		switch l.command.event {
		case dme.Crash, dme.Restart, dme.Join, dme.Depart:
			return true
		}
		return false
	})
}

type player struct {
	algorithm *dme.Algorithm
	network   *vnet.Network // from the first command on
	tape      *recording.Tape
	text      strings.Builder
	steps     []vnet.Step

	violates vnet.Property   // what the scenario is to break; "" for nothing
	broken   *vnet.Violation // of that; nil: none yet
	repeats  int
	states   []string // before each of the last steps, if repeats counts them
	waited   [][]dme.NodeID
}

func (p *player) carryOut(c command) error {
	n := p.network
	if n.Violation != nil {
		return errors.New("the commands above have broken a property already; nothing can come after that")
	}
	switch c.word {
	case "settle":
		for x, ok := n.Oldest(); ok && n.Violation == nil; x, ok = n.Oldest() {
			what := x.Kind.String()
			if x.Kind == dme.Receive {
				what = vnet.DescribeMessage(p.algorithm, n.Message(x))
			}
			p.note("deliver %v->%v %s", x.From, x.Node, what)
			p.do(x)
			if p.text.Len() > maxText {
				return errors.New("messages go on and on; a token that never rests is stopped by 'stop', " +
					"or let its messages arrive one by one with 'deliver'")
			}
		}
	case "stop":
		for id := range c.nodes(n) {
			if n.Activity(id) != noderun.Down {
				p.do(vnet.Step{Kind: dme.Stop, Node: id})
			}
		}
	case "state":
		for id := range c.nodes(n) {
			p.note("%s", n.Describe(id))
		}
	case "waits":
		waiting := false
		for id := range c.nodes(n) {
			if n.Algorithm.Waits == nil {
				break
			}
			for _, w := range n.Algorithm.Waits(n.Node(id)) {
				p.note("node %d waits for %v: %s", id, w.For, w.What)
				waiting = true
			}
		}
		if !waiting {
			p.note("nobody waits")
		}
	default:
		x, err := p.step(c)
		switch {
		case err == nil:
			p.do(x)
		case p.violates != "": // a counterexample, and the algorithm has changed since
			p.note("not possible: %v", err)
		default:
			return err
		}
	}
	switch {
	case n.Violation != nil && n.Violation.Property == p.violates:
		p.breaks(*n.Violation)
	case n.Violation != nil:
		return errors.New(n.Violation.Verdict)
	case p.text.Len() > maxText:
		return fmt.Errorf("the outcomes up to here are longer than %d bytes; make the scenario shorter", maxText)
	}
	return nil
}

// nodes yields the node that a command names, or all.
func (c command) nodes(n *vnet.Network) iter.Seq[dme.NodeID] {
	if c.node == dme.None {
		return n.IDs()
	}
	return slices.Values([]dme.NodeID{c.node})
}

func (p *player) step(c command) (vnet.Step, error) {
	x := vnet.Step{Kind: c.event, Node: c.node, Timer: c.timer}
	var why string
	switch c.event {
	case dme.RequestShared:
		why = p.algorithm.Name + " has no readers"
	case dme.Timeout:
		why = fmt.Sprintf("node %d has no timer %d set", c.node, c.timer)
	case dme.Receive, dme.Copy, dme.Lose:
		x.From, x.Node = c.node, c.to
		if kind, ok := p.network.News(x.From, x.Node); ok && c.event == dme.Receive && c.kind == "" {
			x.Kind = kind
			break
		}
		// Of two equal ones, the first may have been copied: it cannot be copied or lost any more.
		for _, m := range p.network.OnTheWay(x.From, x.Node) {
			if c.means(p.algorithm, &m) && p.network.Possible(x) {
				break
			}
			x.Index++
		}
		why = "no such message is on its way; there are: " + p.onTheWay()
	default:
		why = fmt.Sprintf("node %d is %v", c.node, p.network.Activity(c.node))
	}
	if !p.network.Possible(x) {
		return x, errors.New(why)
	}
	return x, nil
}

func (p *player) do(x vnet.Step) {
	if p.repeats > 0 {
		p.states = append(p.states, string(p.network.SaveAlike(nil)))
		p.states = p.states[max(0, len(p.states)-p.repeats):]
		p.waited = append(p.waited, p.network.Waiting())
		p.waited = p.waited[max(0, len(p.waited)-p.repeats):]
	}
	if p.violates == "" && BeyondNeeds(p.network.Model, x) {
		p.network.Unwatch()
	}
	p.steps = append(p.steps, x)
	e := p.network.Do(x)
	p.tape.Add(e)
	p.changed(e.Node)
	p.outcomes(e)
}

func (p *player) outcomes(e *vnet.Event) {
	for i := range e.Effects {
		switch x := &e.Effects[i]; x.Kind {
		case dme.Send:
			verb := "send"
			if x.Lost {
				verb = "lost"
			}
			p.note("%s %d->%d %s", verb, e.Node, x.To, vnet.DescribeMessage(p.algorithm, &x.Msg))
		case dme.Left:
			p.note("left %d", e.Node)
		case dme.Enter:
			if x.Stamp.IsZero() {
				p.note("enter %d", e.Node)
			} else {
				p.note("enter %d %v", e.Node, x.Stamp)
			}
		case dme.SetTimer:
			p.note("timer %d %d %v", e.Node, x.Timer, x.Delay)
		}
	}
	if e.Refused != "" {
		p.note("refuse: %s", e.Refused)
	}
}

func (p *player) note(format string, args ...any) { fmt.Fprintf(&p.text, "  "+format+"\n", args...) }

func (p *player) onTheWay() string {
	var parts []string
	for _, l := range p.network.InFlight() {
		what := l.Arrival().String()
		if l.Arrival() == dme.Receive {
			what = p.algorithm.KindName(l.Kind)
		}
		parts = append(parts, fmt.Sprintf("%d->%d %s", l.From, l.To, what))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (c command) means(a *dme.Algorithm, m *dme.Message) bool {
	if c.kind == "" {
		return true
	}
	if a.KindName(m.Kind) != c.kind {
		return false
	}
	text := " " + vnet.DescribeMessage(a, m) + " "
	return c.fields == "" || strings.Contains(text, " "+c.fields+" ")
}

func (p *player) breaks(v vnet.Violation) {
	v.Verdict = strings.Join(strings.Fields(v.Verdict), " ")
	p.broken = &v
	p.note("violation: %s", v.Verdict)
}

// conclude judges in the end what no single step shows, and notes what was not broken.
func (p *player) conclude() {
	n := p.network
	if p.violates == "" || n == nil || n.Violation != nil {
		return
	}
	waiting := n.Waiting()
	who := check.Wait(waiting)
	again := p.repeats > 0 && len(p.states) == p.repeats && p.states[0] == string(n.SaveAlike(nil))
	repeated := fmt.Sprintf("the last %d steps repeat for ever", p.repeats)
	breaks := func(property vnet.Property, format string, args ...any) {
		p.breaks(vnet.Violation{Property: property, Nodes: waiting, Verdict: fmt.Sprintf(format, args...)})
	}
	switch {
	case p.violates == check.Progress && n.Stuck():
		breaks(check.Progress, "%s, and nothing moves", who)
	case p.violates == check.Liveness && len(waiting) > 0 && again:
		breaks(check.Liveness, "%s, and %s", who, repeated)
	case p.violates == check.Liveness && len(waiting) > 0 && p.repeats == 0:
		breaks(check.Liveness, "%s, %d steps after the last request, entry or exit", who, n.QuietFor)
	case p.violates == check.Rest && len(waiting) == 0 && again:
		breaks(check.Rest, "nobody waits, and %s", repeated)
	case p.violates == check.Rest && len(waiting) == 0 && p.repeats == 0 && n.Busy():
		breaks(check.Rest, "nobody waits, and messages still flow %d steps after the last exit", n.QuietFor)
	case p.violates == starvation && again && len(p.starved()) > 0:
		breaks(check.Starvation, "%s while others enter, and %s", check.Wait(p.starved()), repeated)
	default:
		p.note("no violation of %s", p.violates)
	}
}

func (p *player) starved() []dme.NodeID {
	starved := p.network.Waiting()
	for _, waiting := range p.waited {
		starved = slices.DeleteFunc(starved, func(id dme.NodeID) bool { return !slices.Contains(waiting, id) })
	}
	return starved
}

// Difference compares the outcomes that the scenario's file expects with those that a play has
// brought, as a unified diff of the two: "" if they agree, or if the file expects nothing.
func (s *Scenario) Difference(played []byte) string {
	if !s.expects {
		return ""
	}
	got := strings.Split(strings.TrimSuffix(string(played), "\n"), "\n")
	for i := range got {
		got[i] = strings.TrimRight(got[i], " \t\r")
	}
	text := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	_, lines, _ := strings.Cut(string(diff.Diff("", text(s.original), "", text(got))), "\n@@ ")
	if lines == "" {
		return ""
	}
	return "@@ " + lines
}
