package page

import (
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// method is one of a node, as the page shows it.
type method struct {
	Doc  string `json:"doc,omitempty"` // its first sentence, which says the paper's step
	Code string `json:"code"`
}

// sources returns the methods of the algorithms' nodes, with those of what is embedded, in JSON: by
// the nodes' types, as "maekawa.node", and by their names.
func sources(algorithms fs.FS) ([]byte, error) {
	names, err := fs.Glob(algorithms, "*/*.go")
	if err != nil {
		return nil, err
	}
	fset, texts, packages := token.NewFileSet(), make(map[string][]byte), make(map[string][]*ast.File)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(algorithms, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		texts[name], packages[path.Dir(name)] = text, append(packages[path.Dir(name)], file)
	}
	all := make(map[string]map[string]method)
	for name, files := range packages {
		p, err := doc.NewFromFiles(fset, files, name, doc.AllDecls|doc.AllMethods|doc.PreserveAST)
		if err != nil {
			return nil, err
		}
		for _, t := range p.Types {
			of := make(map[string]method)
			for _, m := range t.Methods {
				begin := m.Decl.Pos()
				if m.Decl.Doc != nil {
					begin = m.Decl.Doc.Pos()
				}
				from, to := fset.Position(begin), fset.Position(m.Decl.End())
				of[m.Name] = method{p.Synopsis(m.Doc), string(texts[from.Filename][from.Offset:to.Offset])}
			}
			if _, node := of["Receive"]; node {
				all[name+"."+t.Name] = of
			}
		}
	}
	return json.Marshal(all)
}
