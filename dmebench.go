// Package dmebench is the program as a library, for a main of one's own that
// adds algorithms and lock services to what is built in:
//
//	package main
//
//	import (
//		"dmebench"
//		"dmebench/dme"
//		"example.org/mine"
//	)
//
//	func main() { dmebench.Main(dmebench.Config{Algorithms: []*dme.Algorithm{mine.Algorithm()}}) }
//
// The program built from it has every sub-command, and runs, simulates, checks
// and plots the new algorithm like any other. Its worker processes are started
// from the same binary, so that they know the algorithm too.
package dmebench

import (
	"io"
	"os"
	"slices"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/cli"
	"dmebench/lock"
)

// Config is what a program has beside what is built in.
type Config struct {
	Algorithms []*dme.Algorithm
	Locks      []*lock.System // services that are measured beside the algorithms
}

// Main runs the program, and exits. An algorithm or a service whose description is faulty,
// or whose name is taken, is reported before anything else happens.
func Main(c Config) {
	os.Exit(Run(os.Args, os.Stdin, os.Stdout, os.Stderr, c))
}

// Run is Main for a caller that decides itself when to exit: it returns the
// exit code. args[0] is the program's name.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, c Config) int {
	own := slices.Clone(c.Algorithms)
	for _, s := range c.Locks {
		own = append(own, s.Described())
	}
	return cli.Run(args, stdin, stdout, stderr, algorithms.All(), own, algorithms.Scenarios)
}
