package testkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// module is the source of a Go module without its tests.
type module struct {
	path string // "dmebench"
	fset *token.FileSet
	pkgs map[string][]*ast.File // by folder, "." for the root
	long []string               // lines that are too long, those of tests too
}

// longest is how many characters a line may have; a tab is one.
const longest = 140

// load parses every Go file of the module that fsys holds, whatever its build
// constraints. Test files, nested modules and the folders that the go command
// ignores are left out; of test files the length of the lines is read.
func load(fsys fs.FS, modulePath string) (*module, error) {
	m := &module{path: modulePath, fset: token.NewFileSet(), pkgs: map[string][]*ast.File{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name == "." {
				return nil
			}
			_, nested := fs.Stat(fsys, path.Join(name, "go.mod"))
			if nested == nil || base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(source), "\n") {
			if n := utf8.RuneCountInString(line); n > longest {
				m.long = append(m.long, fmt.Sprintf("%s:%d: a line of %d characters; more than %d", name, i+1, n, longest))
			}
		}
		if strings.HasSuffix(base, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(m.fset, name, source, 0)
		if err != nil {
			return err
		}
		m.pkgs[path.Dir(name)] = append(m.pkgs[path.Dir(name)], f)
		return nil
	})
	return m, err
}

// at says where a node of the source is: "algorithms/x/x.go:12".
func (m *module) at(n ast.Node) string {
	p := m.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// importPath returns what an import imports.
func importPath(s *ast.ImportSpec) string {
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		panic(err) // the parser has accepted it
	}
	return p
}

// local reports whether the import path p is of this module, and its folder.
func (m *module) local(p string) (folder string, ok bool) {
	if p == m.path {
		return ".", true
	}
	return strings.CutPrefix(p, m.path+"/")
}

// standard reports whether p is of the standard library.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// match reports whether a folder is what a pattern says: "x" is the folder x,
// "x/..." every folder below x.
func match(pattern, folder string) bool {
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(folder, above+"/")
	}
	return folder == pattern
}

func matchAny(patterns []string, folder string) bool {
	for _, p := range patterns {
		if match(p, folder) {
			return true
		}
	}
	return false
}
