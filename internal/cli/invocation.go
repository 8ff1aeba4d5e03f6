package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/platform/suggest"
	"dmebench/transport/link"
)

// invocation is a command line taken apart: which command, with which flags, and
// what stands besides, wherever it stands. The library looks for flags before the
// first argument only.
type invocation struct {
	root    *cli.Command   // stands for the program itself
	path    []*cli.Command // the command, and its sub-command
	flags   []flagGiven    // in order
	rest    []string       // arguments
	help    bool
	version bool

	awaits cli.Flag // the flag whose value would be the next word; nil if none
	closed bool     // "--" was met: no more flags
}

// flagGiven is a flag as it was given.
type flagGiven struct {
	flag  cli.Flag
	name  string // the flag's first
	as    string // as it was written, with its dashes
	value string
}

// command is the innermost one; the root where none is named.
func (v *invocation) command() *cli.Command {
	if len(v.path) == 0 {
		return v.root
	}
	return v.path[len(v.path)-1]
}

// title is how the command is called: "dmebench list quorums".
func (v *invocation) title() string {
	words := []string{v.root.Name}
	for _, c := range v.path {
		words = append(words, c.Name)
	}
	return strings.Join(words, " ")
}

// name is the title without the program.
func (v *invocation) name() string {
	_, name, _ := strings.Cut(v.title(), " ")
	return name
}

// is reports whether a flag was given.
func (v *invocation) is(name string) bool { return v.find(name) != nil }

func (v *invocation) find(name string) *flagGiven {
	for i := range v.flags {
		if v.flags[i].name == name {
			return &v.flags[i]
		}
	}
	return nil
}

// takeApart reads the words of a command line after the program's name. The error
// tells every fault, each on a line; what could be read is returned with it.
func takeApart(root *cli.Command, words []string) (*invocation, error) {
	v := &invocation{root: root}
	var errs []error
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case v.closed || word == "-" || !strings.HasPrefix(word, "-"):
			if err := v.plain(word); err != nil {
				return v, err // what follows would be read as another command's
			}
		case word == "--":
			v.closed = true
		default:
			taken, err := v.dashed(word, words)
			words = words[taken:]
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return v, errors.Join(errs...)
}

// plain takes a word that is no flag: the name of a command, or an argument.
func (v *invocation) plain(word string) error {
	subs := v.command().Subcommands
	if len(v.rest) > 0 || v.closed || len(subs) == 0 {
		v.rest = append(v.rest, word)
		return nil
	}
	var names []string
	for _, c := range subs {
		names = append(names, c.Names()...)
	}
	if found, ok := suggest.Find(word, names); ok {
		for _, c := range subs {
			if c.HasName(found) {
				v.path = append(v.path, c)
			}
		}
		return nil
	}
	if len(v.path) > 0 {
		v.rest = append(v.rest, word) // may be an argument of the command itself
		return nil
	}
	return suggest.Unknown("command", word, names, "'"+v.root.Name+" help' lists them")
}

// dashed takes a flag, and returns how many of the words after it are its value.
func (v *invocation) dashed(word string, after []string) (taken int, err error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	as, _, _ := strings.Cut(word, "=")
	flag := lookupFlag(v.command(), name)
	if flag == nil && len(name) > 1 && !strings.HasPrefix(word, "--") && name[1] >= '0' && name[1] <= '9' {
		if short := lookupFlag(v.command(), name[:1]); short != nil && takesValue(short) { // -n7
			flag, as, value, hasValue = short, word[:2], word[2:], true
		}
	}
	if flag == nil {
		switch strings.ToLower(name) {
		case "help", "h":
			v.help = true
			return 0, nil
		case "version", "v":
			if len(v.path) == 0 {
				v.version = true
				return 0, nil
			}
		}
		if !hasValue && len(after) > 0 {
			value = after[0]
		}
		return 0, v.unknownFlag(as, name, value)
	}
	switch {
	case hasValue:
	case !takesValue(flag):
		value = "true"
	case len(after) == 0:
		v.awaits = flag
		return 0, fmt.Errorf("%s: %s needs a value%s", v.name(), as, wanted(flag))
	default:
		value, taken = after[0], 1
	}
	v.flags = append(v.flags, flagGiven{flag, flag.Names()[0], as, value})
	return taken, checkValue(flag, as, value)
}

func (v *invocation) unknownFlag(as, name, value string) error {
	option := slices.ContainsFunc(link.Options(), func(o dme.Option) bool { return o.Name == name })
	if option && lookupFlag(v.command(), "set") != nil && v.name() != "check" { // which has links of its own
		return fmt.Errorf("unknown flag %s; %s is an option of networks: write --set %s=%s", as, name, name, cmp.Or(value, "VALUE"))
	}
	var names []string
	for _, f := range v.command().Flags {
		names = append(names, f.Names()[0])
	}
	help := v.title() + " --help"
	if len(v.path) == 0 {
		help = v.root.Name + " help"
		names = append(names, "help", "version")
	}
	if near := suggest.Near(name, names); near != "" {
		return fmt.Errorf("unknown flag %s; did you mean '--%s'?", as, near)
	}
	return fmt.Errorf("unknown flag %s; '%s' lists the flags", as, help)
}

// lookupFlag returns the flag of that name, which may be in any case where it is
// longer than a letter; nil if there is none.
func lookupFlag(c *cli.Command, name string) cli.Flag {
	var names []string
	of := make(map[string]cli.Flag)
	for _, f := range c.Flags {
		for _, n := range f.Names() {
			names = append(names, n)
			of[n] = f
		}
	}
	if len(name) < 2 {
		return of[name]
	}
	found, _ := suggest.Find(name, names)
	return of[found]
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return !ok || d.TakesValue()
}

// wanted says what a flag's value is: ", FILE", or nothing where that is not told.
func wanted(f cli.Flag) string {
	if value, _ := placeholder(f); value != "" {
		return ", " + value
	}
	return ""
}

// checkValue says what a value must be that is not.
func checkValue(f cli.Flag, as, value string) error {
	var err error
	shown := value
	if value == "" {
		shown = `""`
	}
	switch f.(type) {
	case *cli.IntFlag:
		if _, err = strconv.ParseInt(value, 0, strconv.IntSize); err != nil {
			if f.Names()[0] == "nodes" && strings.ContainsAny(value, ",-.") {
				return fmt.Errorf("%s %s: want one whole number, such as 7; 'dmebench sweep' takes a list, such as -n 3,7,13", as, shown)
			}
			return fmt.Errorf("%s %s: want a whole number, such as 7", as, shown)
		}
	case *cli.Uint64Flag:
		if _, err = strconv.ParseUint(value, 0, 64); err != nil {
			return fmt.Errorf("%s %s: want a whole number, 0 or more", as, shown)
		}
	case *cli.Float64Flag:
		if _, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("%s %s: want a number, such as 0.5", as, shown)
		}
	case *cli.BoolFlag:
		if _, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("%s=%s: want true or false", as, shown)
		}
	case *cli.DurationFlag:
		if _, err = dme.ParseDuration(value); err != nil {
			return fmt.Errorf("%s %s: %w; want one such as 10s or 500ms", as, shown, err)
		}
	}
	return nil
}

// words is the command line as the library reads it.
func (v *invocation) words() []string {
	words := []string{v.root.Name}
	for _, c := range v.path {
		words = append(words, c.Name)
	}
	for _, g := range v.flags {
		words = append(words, "--"+g.name+"="+g.value)
	}
	if len(v.rest) > 0 {
		words = append(append(words, "--"), v.rest...)
	}
	return words
}
