package mutation

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

//go:embed mutant/mutant.go
var runtimeSource []byte

// runtimeFolder is where the overlay puts package mutant, below the root of a module.
const runtimeFolder = "internal/mutation/mutant"

// source is what is known of the packages into which faults are planted.
type source struct {
	root, module string
	packages     []*packages.Package
	texts        map[string][]byte // by file, relative to root
}

// load reads packages, and finds all their mutants.
func load(root string, patterns []string) (*source, []*Mutant, error) {
	mode := packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedModule | packages.NeedExportFile
	all, err := packages.Load(&packages.Config{Mode: mode, Dir: root}, patterns...)
	if err != nil {
		return nil, nil, fmt.Errorf("mutation: load %s: %w", strings.Join(patterns, " "), err)
	}
	s := &source{root: root, packages: all, texts: make(map[string][]byte)}
	var mutants []*Mutant
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, nil, fmt.Errorf("mutation: load %s: %w", p.PkgPath, p.Errors[0])
		}
		s.module = p.Module.Path
		for i, file := range p.Syntax {
			text, err := os.ReadFile(p.CompiledGoFiles[i])
			if err != nil {
				return nil, nil, err
			}
			found := find(root, s.module, p, file, text)
			mutants = append(mutants, found...)
			s.texts[s.relative(p.CompiledGoFiles[i])] = text
		}
	}
	return s, mutants, nil
}

// relative names a file as mutants do.
func (s *source) relative(file string) string {
	path, err := filepath.Rel(s.root, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(path)
}

// rewrite returns a file's text with mutants behind conditions: numbers[m] is that of m.
// Lines stay where they are.
func (s *source) rewrite(file string, mutants []*Mutant, numbers map[*Mutant]int) ([]byte, error) {
	text := s.texts[file]
	type placed struct {
		edit
		order int
	}
	var edits []placed
	for _, m := range mutants {
		for _, e := range m.edits {
			e.text = strings.ReplaceAll(e.text, "%K", strconv.Itoa(numbers[m]))
			edits = append(edits, placed{e, m.discovery})
		}
	}
	// What ends somewhere ends before something else begins there. Of what begins, the
	// outer comes first; of what ends, the inner.
	slices.SortStableFunc(edits, func(a, b placed) int {
		order := cmp.Compare(a.order, b.order)
		if a.kind == closes {
			order = -order
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), order)
	})
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	done := int(parsed.Name.End()) - 1
	out := append([]byte(nil), text[:done]...)
	out = append(out, "; import mutant__ "+strconv.Quote(s.module+"/"+runtimeFolder)...)
	for _, e := range edits {
		out = append(out, text[done:e.at]...)
		out = append(out, e.text...)
		done = e.at + e.length
	}
	return append(out, text[done:]...), nil
}

// rewriteAll rewrites the files of mutants, and leaves out those that do not compile.
func (s *source) rewriteAll(mutants []*Mutant) (files map[string][]byte, fit []*Mutant, err error) {
	for {
		numbers := make(map[*Mutant]int)
		byFile := make(map[string][]*Mutant)
		for i, m := range mutants {
			numbers[m] = i + 1
			byFile[m.File] = append(byFile[m.File], m)
		}
		files = make(map[string][]byte)
		for file, own := range byFile {
			if files[file], err = s.rewrite(file, own, numbers); err != nil {
				return nil, nil, err
			}
		}
		bad, err := s.compile(files, byFile)
		if err != nil || len(bad) == 0 {
			return files, mutants, err
		}
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(m *Mutant) bool { return bad[m] })
	}
}

// compile type-checks rewritten files and returns the mutants on the lines of errors.
func (s *source) compile(files map[string][]byte, mutants map[string][]*Mutant) (bad map[*Mutant]bool, err error) {
	bad = make(map[*Mutant]bool)
	for _, p := range s.packages {
		fset := token.NewFileSet()
		var syntax []*ast.File
		touched := false
		for _, name := range p.CompiledGoFiles {
			path := s.relative(name)
			text, ok := files[path]
			if !ok {
				text = s.texts[path]
			}
			touched = touched || ok
			file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("mutation: a rewritten file has a mistake: %w", err)
			}
			syntax = append(syntax, file)
		}
		if !touched {
			continue
		}
		var first error
		config := types.Config{Importer: s.importer(p), GoVersion: "go" + p.Module.GoVersion, Error: func(err error) {
			te := err.(types.Error)
			at := te.Fset.Position(te.Pos)
			blamed := false
			for _, m := range blame(mutants[at.Filename], at.Line, te.Msg, s.texts[at.Filename]) {
				bad[m], blamed = true, true
			}
			if !blamed && first == nil {
				first = err
			}
		}}
		config.Check(p.PkgPath, fset, syntax, nil) //nolint:errcheck // Error has it
		if first != nil {
			return nil, fmt.Errorf("mutation: a rewritten package does not compile: %w", first)
		}
	}
	return bad, nil
}

// blame returns the mutants of a file that an error on a line comes from. A function that
// lacks a return is told at its end: a case that does nothing is to blame, or a loop.
func blame(mutants []*Mutant, line int, message string, text []byte) (guilty []*Mutant) {
	if strings.Contains(message, "missing return") {
		var last *Mutant
		for _, m := range mutants {
			if (m.Operator == opCase || m.Operator == opLoop) && m.Line <= line && (last == nil || m.Line > last.Line) {
				last = m
			}
		}
		if last == nil {
			return nil
		}
		return []*Mutant{last}
	}
	for _, m := range mutants {
		if m.Line <= line && line <= m.Line+bytes.Count(text[m.from:m.to], []byte("\n")) {
			guilty = append(guilty, m)
		}
	}
	return guilty
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// importer finds what p imports, and package mutant.
func (s *source) importer(p *packages.Package) types.Importer {
	return importerFunc(func(path string) (*types.Package, error) {
		if path == s.module+"/"+runtimeFolder {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "mutant.go", runtimeSource, 0)
			if err != nil {
				return nil, err
			}
			// Its functions' types are all that is needed, and name nothing of other packages.
			config := types.Config{IgnoreFuncBodies: true, Error: func(error) {}}
			own, _ := config.Check(path, fset, []*ast.File{file}, nil)
			return own, nil
		}
		if path == "unsafe" {
			return types.Unsafe, nil
		}
		if q, ok := p.Imports[path]; ok && q.Types != nil {
			return q.Types, nil
		}
		return nil, fmt.Errorf("mutation: %s is not loaded", path)
	})
}
