package testkit_test

import (
	"go/ast"
	"path"
	"slices"
)

// purePackages are the packages of the standard library that compute and do
// nothing else. What is not listed is refused: network, files, locks, clocks.
var purePackages = []string{
	"bytes", "cmp", "container/heap", "container/list", "container/ring",
	"encoding/binary", "encoding/hex", "errors", "fmt", "hash", "hash/crc32", "hash/fnv",
	"iter", "maps", "math", "math/big", "math/bits", "math/cmplx",
	"math/rand/v2", "slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf8",
}

// Of some packages a part only is pure.
var (
	// Values of time; not the clock, and nothing that waits.
	pureTime = []string{
		"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "ParseDuration",
	}
	// Generators with a seed; not the functions that use the global one.
	pureRand = []string{"ChaCha8", "New", "NewChaCha8", "NewPCG", "NewZipf", "PCG", "Rand", "Source", "Zipf"}
	// Sequences; not the coroutines.
	pureIter = []string{"Seq", "Seq2"}
	// Formatting to memory, or to a writer, of which a pure package can make
	// no other; not to standard output.
	pureFmt = []string{
		"Append", "Appendf", "Appendln", "Errorf", "Formatter", "Fprint", "Fprintf", "Fprintln", "GoStringer", "Sprint", "Sprintf", "Sprintln",
		"Sscan", "Sscanf", "Sscanln", "State", "Stringer",
	}
)

var pureParts = map[string][]string{
	"time": pureTime, "math/rand/v2": pureRand, "iter": pureIter, "fmt": pureFmt,
}

// checkPure reports what a pure state machine does not do: import the world,
// read the clock, draw from the global generator, start goroutines, run code by
// itself. It may import the packages of but.
func checkPure(m *module, f *ast.File, but []string, report func(ast.Node, string)) {
	parts := map[string]string{} // name in this file: import path
	for _, s := range f.Imports {
		p := importPath(s)
		if _, ours := m.local(p); !ours && standard(p) && !slices.Contains(purePackages, p) && !slices.Contains(but, p) {
			report(s, "imports "+p+", which is not a pure package")
			continue
		}
		name := path.Base(p)
		if p == "math/rand/v2" {
			name = "rand"
		}
		if s.Name != nil {
			name = s.Name.Name
		}
		if name == "." || name == "_" {
			report(s, "imports "+p+" as "+name)
			continue
		}
		if _, ok := pureParts[p]; ok {
			parts[name] = p
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "starts a goroutine")
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				report(n, "has an init function")
			}
		case *ast.SelectorExpr:
			// An identifier that the parser has resolved is a variable that
			// hides the package.
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil {
				if p, ok := parts[x.Name]; ok && !slices.Contains(pureParts[p], n.Sel.Name) {
					report(n, "uses "+p+"."+n.Sel.Name)
				}
			}
		}
		return true
	})
}
