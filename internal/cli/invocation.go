package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/platform"
	"dmebench/transport/link"
	"dmebench/units"
)

// arrange puts the flags of a command line before its arguments, where the library looks
// for them, each under its first name. Names of commands and flags may be in any case,
// and 'help COMMAND' is 'COMMAND --help'.
func arrange(root *cli.Command, words []string) []string {
	c, path := root, []string{root.Name}
	var flags, rest []string
	help := len(words) > 0 && (strings.EqualFold(words[0], "help") || words[0] == "h")
	if help {
		words = words[1:]
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word == "--":
			rest, words = append(rest, words...), nil
		case strings.HasPrefix(word, "-") && word != "-":
			name, value, valued := strings.Cut(strings.TrimLeft(word, "-"), "=")
			f := flagOf(c, name)
			if f == nil && len(name) > 1 && !strings.HasPrefix(word, "--") && name[1] >= '0' && name[1] <= '9' { // -n7
				if f = flagOf(c, name[:1]); f != nil {
					value, valued = name[1:], true
				}
			}
			if f != nil && !valued {
				value, valued = mayLack(f, words)
			}
			switch {
			case f == nil && (strings.EqualFold(name, "help") || name == "h"):
				help = true
				continue
			case f == nil:
				flags = append(flags, word)
				continue
			case !valued && takesValue(f) && len(words) > 0:
				value, valued, words = words[0], true, words[1:]
			case !valued && takesValue(f): // the library says that its value is missing
				return slices.Concat(path, flags, []string{"--" + f.Names()[0]})
			}
			word = "--" + f.Names()[0]
			if valued {
				word += "=" + value
			}
			flags = append(flags, word)
		default:
			sub := subcommand(c, word)
			if sub == nil && c == root {
				return []string{root.Name, "--", word} // no command, whatever comes next
			}
			if sub == nil || len(rest) > 0 {
				rest = append(rest, word)
				continue
			}
			c, path = sub, append(path, sub.Name)
		}
	}
	if help || c != root && len(flags) == 0 && slices.Equal(rest, []string{"help"}) {
		return append(path, "--help")
	}
	if len(rest) > 0 {
		flags = append(flags, "--")
	}
	return slices.Concat(path, flags, rest)
}

// flagOf returns the flag of that name, in any case if it is longer than a letter, or nil.
func flagOf(c *cli.Command, name string) cli.Flag {
	for _, f := range c.Flags {
		for _, n := range f.Names() {
			if n == name || len(name) > 1 && strings.EqualFold(n, name) {
				return f
			}
		}
	}
	return nil
}

func subcommand(c *cli.Command, name string) *cli.Command {
	for _, sub := range c.Subcommands {
		if strings.EqualFold(sub.Name, name) {
			return sub
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return !ok || d.TakesValue()
}

// argumentFlags names the flag whose value the argument of a command is, as in
// 'run ALGORITHM'. If the flag can be repeated there may be several arguments.
var argumentFlags = map[string]string{
	"run": "algorithm", "check": "algorithm", "validate": "algorithm",
	"sweep": "file", "report": "file", "export": "file", "rank": "file", "trace": "file", "playground": "file",
	"list": "name", "algorithms": "name",
}

// takeArguments makes arguments the values of flags, and refuses all others.
func (p *program) takeArguments(c *cli.Context) error {
	args := c.Args().Slice()
	name, takes := argumentFlags[c.Command.Name]
	switch {
	case len(args) > 0 && c.Command.Command(args[0]) != nil:
		return nil // the sub-command has arguments of its own
	case !takes:
		return checkArguments(c.Command, args)
	}
	f := flagOf(c.Command, name)
	_, many := f.(*cli.StringSliceFlag)
	for i, value := range args {
		switch hint := strayValue(c, value); {
		case i > 0 && hint != "":
			return usage("%s: %q is one argument too many; %s", c.Command.Name, value, hint)
		case many:
		case i > 0:
			return usage("%s takes one argument, %s; %q is one too many", c.Command.Name, c.Command.ArgsUsage, value)
		case c.IsSet(name):
			return usage("%s: the argument %q and --%s %s say the same; leave one of them out", c.Command.Name, value, name, c.String(name))
		}
		flag := name
		switch {
		case c.Command.Name == "validate" && strings.Contains(value, "/"):
			flag = "claim"
		case c.Command.Name == "trace" && p.isScenario(value):
			flag = "scenario"
		}
		if err := c.Set(flag, value); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) isScenario(name string) bool {
	if _, err := os.Stat(name); err == nil {
		return false
	}
	_, found := units.FindName(name, p.scenarioNames())
	return found
}

// strayValue explains a word that follows a flag without a value, as in "--fifo false".
func strayValue(c *cli.Context, word string) string {
	if word == "true" || word == "false" {
		for _, f := range c.Command.Flags {
			if name := f.Names()[0]; !takesValue(f) && c.IsSet(name) {
				return fmt.Sprintf("write --%s=%s", name, word)
			}
		}
	}
	return ""
}

// checkArguments refuses other arguments than ArgsUsage has; those in brackets are optional.
func checkArguments(c *cli.Command, args []string) error {
	names := strings.Fields(c.ArgsUsage)
	least := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
	}
	switch {
	case len(args) >= least && len(args) <= len(names):
		return nil
	case len(c.Subcommands) > 0:
		subs := units.Texts(c.Subcommands, func(sub *cli.Command) string { return sub.Name })
		return usage("%s: there is no %q; %s%s", c.Name, args[0], units.Listed(subs), units.Hint(args[0], subs))
	case len(names) == 0:
		return usage("%s takes no arguments, but there is %q; everything is given by flags, which 'dmebench %s --help' lists",
			c.Name, args[0], c.Name)
	}
	want := fmt.Sprint(least)
	if least < len(names) {
		want += fmt.Sprintf(" or %d", len(names))
	}
	return usage("%s takes %s arguments, %s, but there are %d; see 'dmebench %s --help'", c.Name, want, c.ArgsUsage, len(args), c.Name)
}

// Errors of the flag package, which says names with one dash.
var (
	unknownFlag  = platform.Pattern(`^flag provided but not defined: -+(.*)$`)
	missingValue = platform.Pattern(`^flag needs an argument: -+(.*)$`)
	wrongValue   = platform.Pattern(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-+(\S+): `)
)

// usageError says what is wrong with a flag, and what to write instead.
func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if m := unknownFlag().FindStringSubmatch(text); m != nil {
		return unknown(c.Command, m[1])
	}
	if m := missingValue().FindStringSubmatch(text); m != nil {
		return usage("%s: --%s needs a value", c.Command.Name, m[1])
	}
	m := wrongValue().FindStringSubmatch(text)
	if m == nil {
		return usage("%s; '%s --help' lists the flags", text, c.Command.HelpName)
	}
	value, name := m[1], m[2]
	given := strings.TrimSpace("--" + name + " " + value)
	switch flagOf(c.Command, name).(type) {
	case *cli.BoolFlag:
		return usage("--%s=%s: want true or false", name, value)
	case *cli.DurationFlag:
		_, err := dme.ParseDuration(value)
		return usage("%s: %w; want one such as 10s or 500ms", given, err)
	case *cli.Float64Flag:
		return usage("%s: want a number, such as 0.5", given)
	}
	if name == "nodes" && strings.ContainsAny(value, ",-.") {
		return usage("%s: want one whole number, such as 7; 'dmebench sweep' takes a list, such as -n 3,7,13", given)
	}
	return usage("%s: want a whole number, such as 7", given)
}

func unknown(c *cli.Command, name string) error {
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	if flagOf(c, "set") != nil && c.Name != "check" && // check has links of its own
		slices.ContainsFunc(link.Options(), func(o dme.Option) bool { return o.Name == name }) {
		return usage("unknown flag --%s; %s is an option of networks: write --set %s=VALUE", name, name, name)
	}
	names := units.Texts(c.Flags, func(f cli.Flag) string { return f.Names()[0] })
	if near := units.NearestName(name, names); near != "" {
		return usage("unknown flag %s%s; did you mean '--%s'?", dashes, name, near)
	}
	return usage("unknown flag %s%s; '%s --help' lists the flags", dashes, name, c.HelpName)
}
