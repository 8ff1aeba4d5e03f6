package trace

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/recording"
	"dmebench/internal/spacetime"
)

// watch has the tape follow the variables of the nodes, where the scenario is a
// counterexample: its picture says what each step changes.
func (p *player) watch() {
	if p.violates == "" {
		return
	}
	for id := range p.network.IDs() {
		p.tape.Watch(id, p.network.Runner(id).Node())
	}
}

func (p *player) changed(id dme.NodeID) {
	if bad := p.network.Violation; p.violates != "" && (bad == nil || bad.Property != vnet.Sanity) {
		p.tape.Changed(id, p.network.Runner(id).Node())
	}
}

// explain draws a counterexample, as the search that found it does.
func (s *Scenario) explain(p *player) *spacetime.Diagram {
	picture := spacetime.NewPainter(s.Nodes, true)
	picture.Title = s.Title
	picture.Absent(s.Absent)
	for i := range p.tape.Events {
		picture.Add(&p.tape.Events[i])
	}
	d := picture.Finish()
	if p.network == nil {
		return d
	}
	for id := range p.network.IDs() {
		d.States = append(d.States, recording.Held(p.network.Runner(id).Node()))
	}
	if p.verdict == "" {
		return d
	}
	d.Caption, d.Bad, d.Loop = []string{p.verdict}, []int{d.Last}, s.Repeats
	var concerned []dme.NodeID
	if bad := p.network.Violation; bad != nil {
		concerned = bad.Nodes
	} else {
		d.Ends = make([]string, s.Nodes)
		for _, id := range p.network.Waiting() {
			d.Ends[id-1] = "waits"
		}
	}
	for i := range d.Sections {
		x := &d.Sections[i]
		x.Bad = s.Violates == vnet.Exclusion && x.Leave == 0 && slices.Contains(concerned, dme.NodeID(x.Lane+1))
	}
	return d
}
