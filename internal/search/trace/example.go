package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/recording"
)

// BuiltIn is a scenario that the program carries.
type BuiltIn struct {
	*Scenario
	ReadFile func(name string) ([]byte, error) // reads a file that its options name, which stands beside its own
}

// BuiltIns returns the worked examples in a file system, in folders of any depth, and one of each
// algorithm that is not known to be wrong: errata.md shows how these fail. They are in the order of
// their folders.
func BuiltIns(files fs.FS, algorithms []*dme.Algorithm) ([]BuiltIn, error) {
	var all []BuiltIn
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil || !IsScenario(text) {
			return err
		}
		s, err := Parse(NameOf(file), text)
		all = append(all, BuiltIn{s, func(name string) ([]byte, error) { return fs.ReadFile(files, path.Join(path.Dir(file), name)) }})
		return err
	})
	for _, a := range algorithms {
		// An algorithm that cannot serve three requests has no example: check says why.
		if s, err := Example(a); err == nil && !a.AsPublished {
			all = append(all, BuiltIn{Scenario: s})
		}
	}
	slices.SortStableFunc(all, func(a, b BuiltIn) int { return strings.Compare(path.Dir(a.Name), path.Dir(b.Name)) })
	return all, err
}

// exampleNodes is the fewest so that two can compete while a third looks on.
const exampleNodes = 3

// exampleSteps bounds an example, since the algorithm may be any.
const exampleSteps = 1000

func ExampleName(a *dme.Algorithm) string { return a.Name + "/example" }

// Example returns a scenario of algorithm a without a file: on three nodes, first node 2 enters
// while no other asks, then nodes 2 and 3 ask at once. Messages arrive in the order in which they
// were sent, and timers fire when nothing else happens.
func Example(a *dme.Algorithm) (*Scenario, error) {
	text := fmt.Sprintf("# %s: one request alone, then two at once\nalgorithm %s\nnodes %d\n",
		a.Title, a.Name, exampleNodes)
	for _, name := range slices.Sorted(maps.Keys(a.Stepped)) {
		text += fmt.Sprintf("set %s=%s\n", name, a.Stepped[name])
	}
	scenario := ExampleName(a)
	s, err := Parse(scenario, []byte(text))
	if err != nil {
		return nil, err
	}
	model, err := s.model(a, nil)
	if err != nil {
		return nil, err
	}
	p := &player{algorithm: a, network: vnet.New(model), tape: recording.NewTape(a)}
	var b strings.Builder
	b.WriteString(text)
	for _, act := range []struct {
		comment string
		asking  []dme.NodeID
	}{{"Nobody else asks.", []dme.NodeID{2}}, {"Two ask at once.", []dme.NodeID{2, 3}}} {
		fmt.Fprintf(&b, "\n# %s\n", act.comment)
		for _, id := range act.asking {
			if err := p.write(&b, fmt.Sprintf("request %d", id)); err != nil {
				return nil, s.Refused(err)
			}
		}
		if err := p.serve(&b); err != nil {
			return nil, s.Refused(err)
		}
	}
	return Parse(scenario, []byte(b.String()))
}

// serve writes and carries out commands until all is served and nothing on its way.
func (p *player) serve(b *strings.Builder) error {
	for range exampleSteps {
		var next string
		if _, busy := p.network.Oldest(); busy {
			next = "settle"
		} else if inside := p.network.Inside(); len(inside) > 0 {
			next = fmt.Sprintf("exit %d", inside[0])
		} else if len(p.network.Waiting()) == 0 {
			return nil
		} else if x, armed := p.network.FirstTimer(); armed {
			next = fmt.Sprintf("timeout %d %d", x.Node, x.Timer)
		} else {
			return errors.New("a request is not served")
		}
		if err := p.write(b, next); err != nil {
			return err
		}
	}
	return fmt.Errorf("the requests are not served within %d steps", exampleSteps)
}

func (p *player) write(b *strings.Builder, text string) error {
	c, err := parseCommand(strings.Fields(text), exampleNodes)
	if err == nil {
		err = p.carryOut(c)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	b.WriteString(text + "\n")
	return nil
}

// watch has the tape of a counterexample follow variables: its picture says what changes.
func (p *player) watch() {
	if p.violates == "" {
		return
	}
	for id := range p.network.IDs() {
		p.tape.Watch(id, p.network.Node(id))
	}
}

func (p *player) changed(id dme.NodeID) {
	if bad := p.network.Violation; p.violates != "" && (bad == nil || bad.Property != vnet.Sanity) {
		p.tape.Changed(id, p.network.Node(id))
	}
}
