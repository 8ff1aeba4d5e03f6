package page

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// code is a function as the page shows it.
type code struct {
	Doc  string `json:"doc,omitempty"` // its first sentence, which says the paper's step
	Code string `json:"code"`

	Calls []code            `json:"calls,omitempty"` // of the same package, that it calls itself
	Kinds map[string][]code `json:"kinds,omitempty"` // of Receive: those that it calls for a kind of message
}

// handlers finds the methods of the algorithms' nodes by their types, as
// "maekawa.node", with what they call. What is embedded is looked up, too.
func handlers(algorithms fs.FS) (map[string]map[string]code, error) {
	all := make(map[string]map[string]code)
	folders, err := fs.ReadDir(algorithms, ".")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		p, err := parse(algorithms, folder.Name())
		if err != nil {
			return nil, err
		}
		for name := range p.types {
			if methods := p.methodsOf(name); methods["Receive"] != nil {
				shown := make(map[string]code)
				for method, f := range methods {
					if unicode.IsUpper(rune(method[0])) && method != "State" {
						shown[method] = p.show(f, methods)
					}
				}
				all[p.name+"."+name] = shown
			}
		}
	}
	return all, nil
}

type pkg struct {
	name    string
	fset    *token.FileSet
	types   map[string]*ast.StructType
	methods map[string]map[string]*ast.FuncDecl // by type
	kinds   map[string]string                   // names of messages by those of constants
}

func parse(fsys fs.FS, folder string) (*pkg, error) {
	p := &pkg{
		name: folder, fset: token.NewFileSet(), types: make(map[string]*ast.StructType),
		methods: make(map[string]map[string]*ast.FuncDecl), kinds: make(map[string]string),
	}
	files, err := fs.Glob(fsys, path.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(p.fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			p.declare(d)
		}
	}
	return p, nil
}

func (p *pkg) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if t, ok := s.Type.(*ast.StructType); ok {
					p.types[s.Name.Name] = t
				}
			case *ast.ValueSpec:
				for _, n := range s.Names { // kindRequest is REQUEST
					if kind, ok := strings.CutPrefix(n.Name, "kind"); ok && d.Tok == token.CONST {
						p.kinds[n.Name] = screaming(kind)
					}
				}
			}
		}
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) != 1 {
			return
		}
		of := typeName(d.Recv.List[0].Type)
		if p.methods[of] == nil {
			p.methods[of] = make(map[string]*ast.FuncDecl)
		}
		p.methods[of][d.Name.Name] = d
	}
}

// screaming is the name of a constant as a paper writes its message: "AreYouThere" is
// ARE_YOU_THERE.
func screaming(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// methodsOf are those of a type, with those of what it embeds.
func (p *pkg) methodsOf(name string) map[string]*ast.FuncDecl {
	methods := make(map[string]*ast.FuncDecl)
	if t := p.types[name]; t != nil {
		for _, field := range t.Fields.List {
			if len(field.Names) == 0 {
				maps.Copy(methods, p.methodsOf(typeName(field.Type)))
			}
		}
	}
	maps.Copy(methods, p.methods[name])
	return methods
}

// show prints a function and, below it, the methods of the node that it calls.
func (p *pkg) show(f *ast.FuncDecl, methods map[string]*ast.FuncDecl) code {
	c := p.alone(f)
	c.Calls = p.called(f.Body, methods)
	if f.Name.Name != "Receive" {
		return c
	}
	c.Kinds = make(map[string][]code)
	p.dispatch(f.Body, methods, c.Kinds)
	for _, name := range calls(f.Body, methods) {
		p.dispatch(methods[name].Body, methods, c.Kinds)
	}
	return c
}

// dispatch notes what is called for a kind of message: in a case of that kind, or after an
// if that asks for it; what stands behind its else is for all other kinds, "".
func (p *pkg) dispatch(body ast.Node, methods map[string]*ast.FuncDecl, kinds map[string][]code) {
	note := func(kind string, body ast.Node) {
		if kinds[kind] == nil {
			kinds[kind] = p.called(body, methods)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, e := range n.List {
				for _, kind := range p.mentioned(e) {
					note(kind, &ast.BlockStmt{List: n.Body})
				}
			}
		case *ast.IfStmt:
			for _, kind := range p.mentioned(n.Cond) {
				if note(kind, n.Body); n.Else != nil {
					note("", n.Else)
				}
			}
		}
		return true
	})
}

// mentioned are the kinds of messages that an expression names.
func (p *pkg) mentioned(e ast.Expr) (kinds []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.kinds[id.Name] != "" {
			kinds = append(kinds, p.kinds[id.Name])
		}
		return true
	})
	return kinds
}

// called are the methods of the node that are called in n, each once.
func (p *pkg) called(n ast.Node, methods map[string]*ast.FuncDecl) []code {
	var all []code
	for _, name := range calls(n, methods) {
		all = append(all, p.alone(methods[name]))
	}
	return all
}

func calls(n ast.Node, methods map[string]*ast.FuncDecl) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && methods[s.Sel.Name] != nil && !slices.Contains(names, s.Sel.Name) {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}

func (p *pkg) alone(f *ast.FuncDecl) code {
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.TabIndent, Tabwidth: 4}).Fprint(&b, p.fset, f); err != nil {
		fmt.Fprint(&b, err)
	}
	doc, _, _ := strings.Cut(strings.Join(strings.Fields(f.Doc.Text()), " "), ". ")
	return code{Doc: strings.TrimSuffix(doc, "."), Code: b.String()}
}
