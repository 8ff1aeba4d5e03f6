// Package dmebench is the program as a library, for a main of one's own that
// adds an algorithm to the built-in ones:
//
//	package main
//
//	import (
//		"dmebench"
//		"example.org/mine"
//	)
//
//	func main() { dmebench.Main(mine.Algorithm()) }
//
// The program built from it has every sub-command, and runs, simulates, checks
// and plots the new algorithm like any other. Its worker processes are started
// from the same binary, so that they know the algorithm too.
package dmebench

import (
	"embed"
	"io"
	"os"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/internal/cli"
)

// scenarios are the worked examples of the papers, with what they refer to.
//
//go:embed algorithms/*/testdata/*.txt algorithms/*/testdata/*/*.txt
var scenarios embed.FS

// Main runs the program with the built-in algorithms and the given ones, and
// exits. An algorithm whose description is faulty, or whose name is taken, is
// reported before anything else happens.
func Main(own ...*dme.Algorithm) {
	os.Exit(Run(os.Args, os.Stdin, os.Stdout, os.Stderr, own...))
}

// Run is Main for a caller that decides itself when to exit: it returns the
// exit code. args[0] is the program's name.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, own ...*dme.Algorithm) int {
	return cli.Run(args, stdin, stdout, stderr, append(catalog.All(), own...), scenarios)
}
