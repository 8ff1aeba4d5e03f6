package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/input"
	"dmebench/internal/platform/suggest"
)

// argument is what a command takes besides flags, where there is only one thing
// that it can be: it is the value of a flag, without the flag's name.
type argument struct {
	flag string // whose value it is
	name string // for help: "FILE"
	many bool   // there may be several

	// other, where it is not nil, returns the flag whose value this one is.
	other func(p *program, value string) string
}

// arguments says which commands take them. Others take what their ArgsUsage says.
func arguments(command string) (a argument, ok bool) {
	a, ok = map[string]argument{
		"run":             {flag: "algorithm", name: "ALGORITHM"},
		"check":           {flag: "algorithm", name: "ALGORITHM"},
		"prove":           {flag: "algorithm", name: "ALGORITHM", many: true},
		"validate":        {flag: "algorithm", name: "ALGORITHM", many: true, other: claimOrAlgorithm},
		"sweep":           {flag: "file", name: "FILE"},
		"coordinator":     {flag: "file", name: "FILE"},
		"report":          {flag: "file", name: "DIR"},
		"export":          {flag: "file", name: "PATH"},
		"rank":            {flag: "file", name: "DIR"},
		"trace":           {flag: "file", name: "FILE", other: scenarioOrFile},
		"list":            {flag: "name", name: "NAME"},
		"list algorithms": {flag: "name", name: "NAME"},
	}[command]
	return a, ok
}

// scenarioOrFile takes the name of a built-in scenario for one, unless there is
// such a file.
func scenarioOrFile(p *program, value string) string {
	if _, err := os.Stat(value); err == nil {
		return "file"
	}
	all, err := p.builtInScenarios()
	for _, x := range all {
		if err == nil && strings.EqualFold(x.scenario.Name, value) {
			return "scenario"
		}
	}
	return "file"
}

// claimOrAlgorithm takes what has a slash for the ID of a claim.
func claimOrAlgorithm(_ *program, value string) string {
	if strings.Contains(value, "/") {
		return "claim"
	}
	return "algorithm"
}

// argumentsOf is how a command's arguments are written in its help.
func argumentsOf(command string, c *cli.Command) string {
	a, ok := arguments(command)
	switch {
	case !ok:
		return c.ArgsUsage
	case a.many:
		return a.name + "…"
	}
	return a.name
}

// place makes arguments the values of flags, and refuses those that are too many.
func (p *program) place(v *invocation) error {
	a, takes := arguments(v.name())
	if !takes && v.command().ArgsUsage != "" {
		return checkArguments(v.command(), v.rest)
	}
	if len(v.rest) == 0 {
		return nil
	}
	first := v.rest[0]
	if !takes {
		if subs := v.command().Subcommands; len(subs) > 0 {
			return p.noSubcommand(v, first)
		}
		return fmt.Errorf("%s takes no arguments, but there is %q; everything is given by flags, which '%s --help' lists",
			v.name(), first, v.title())
	}
	if len(v.rest) > 1 && !a.many {
		return fmt.Errorf("%s takes one argument, %s; %q is one too many%s", v.name(), a.name, v.rest[1], v.strayValue(v.rest[1]))
	}
	for _, value := range v.rest {
		name := a.flag
		if a.other != nil {
			name = a.other(p, value)
		}
		if before := v.find(a.flag); before != nil && !a.many {
			return fmt.Errorf("%s: the argument %q and %s %s say the same; leave one of them out", v.name(), value, before.as, before.value)
		}
		f := lookupFlag(v.command(), name)
		v.flags = append(v.flags, flagGiven{f, name, "--" + name, value})
	}
	v.rest = nil
	return nil
}

// strayValue explains a word that follows a flag that takes none: "--fifo false".
func (v *invocation) strayValue(word string) string {
	if len(v.flags) == 0 || word != "true" && word != "false" {
		return ""
	}
	for _, g := range v.flags {
		if !takesValue(g.flag) {
			return fmt.Sprintf("; write %s=%s", g.as, word)
		}
	}
	return ""
}

func (p *program) noSubcommand(v *invocation, word string) error {
	var names []string
	for _, sub := range v.command().Subcommands {
		names = append(names, sub.Name)
	}
	if names == nil {
		return fmt.Errorf("help tells of one command, and %q is one too many; write '%s help %s'", word, v.root.Name, v.name())
	}
	return fmt.Errorf("%s: there is no %q; there are %s%s", v.name(), word, strings.Join(names, ", "), suggest.Hint(word, names))
}

// files reads the files that a specification names, each once, and remembers
// them for the workers, which may be elsewhere. Safe for concurrent use.
type files struct {
	mu   sync.Mutex
	seen map[string][]byte
}

func newFiles() *files { return &files{seen: make(map[string][]byte)} }

func (f *files) read(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.seen[name]; ok {
		return b, nil
	}
	b, err := input.ReadFile(name, input.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", name)
	}
	if err == nil {
		f.seen[name] = b
	}
	return b, err
}

// all returns what has been read so far, by name.
func (f *files) all() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}
