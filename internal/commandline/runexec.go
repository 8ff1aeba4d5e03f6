package commandline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/foreign"
	"dmebench/result"
)

// execFlags are the flags for nodes in other languages.
func execFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "exec", Usage: "instead of --algorithm: `COMMAND` that is started for each node, " +
			"and speaks JSON on its standard input and output (docs/other-languages.md)"},
		&cli.StringFlag{Name: "name", Usage: "with --exec: `NAME` by which results call the nodes, exec:NAME (default: that of the program)"},
	}
}

// execSpec reads --exec and --name into a specification. Whether there is a program
// of that name is seen by fits.
func execSpec(c *cli.Context, s *result.Spec) error {
	command, name := c.String("exec"), c.String("name")
	if !c.IsSet("exec") {
		if c.IsSet("name") {
			return errors.New("--name is the name of nodes started by --exec, which is missing")
		}
		return nil
	}
	if _, err := foreign.Split(command); err != nil {
		return fmt.Errorf("--exec %q: %w; want a program and its arguments, such as './node.py'", command, err)
	}
	if s.Algorithm != "" {
		return fmt.Errorf("--exec and --algorithm %s both say what the nodes are; choose one", s.Algorithm)
	}
	if _, twice := s.Set[foreign.CommandOption]; twice {
		return fmt.Errorf("--exec and --set %s=… say the same; leave one out", foreign.CommandOption)
	}
	if c.IsSet("agents") {
		return errors.New("--exec and --agents: agents do not start programs for others; nodes in other languages run on this host alone")
	}
	s.Algorithm = foreign.Named(command)
	if c.IsSet("name") {
		if name == "" || strings.ContainsAny(name, "/ \t\n") || len(name) > maxExecName {
			return fmt.Errorf("--name %q: want a word of at most %d characters without spaces and slashes", name, maxExecName)
		}
		s.Algorithm = foreign.Word + ":" + name
	}
	if s.Set == nil {
		s.Set = make(map[string]string)
	}
	s.Set[foreign.CommandOption] = command
	return nil
}

const maxExecName = 40

// programs refuses a run whose nodes are a program that is not here.
func programs(s result.Spec) error {
	command := s.Set[foreign.CommandOption]
	if !foreign.Is(s.Algorithm) || command == "" {
		return nil // what is missing is said elsewhere
	}
	return foreign.Available(command)
}
