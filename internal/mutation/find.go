package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// finder collects the mutants of one file.
type finder struct {
	module string // its path
	pkg    *types.Package
	info   *types.Info
	file   *ast.File
	tf     *token.File
	src    []byte
	path   string // relative to the root of the module
	fn     string
	all    []*Mutant
}

// find returns all mutants of a file, numbered where several read the same.
func find(root, module string, p *packages.Package, file *ast.File, src []byte) []*Mutant {
	tf := p.Fset.File(file.FileStart)
	path, err := filepath.Rel(root, tf.Name())
	if err != nil {
		path = tf.Name()
	}
	f := &finder{module: module, pkg: p.Types, info: p.TypesInfo, file: file, tf: tf, src: src, path: filepath.ToSlash(path)}
	for _, d := range file.Decls {
		f.fn = declared(d)
		ast.PreorderStack(d, nil, func(n ast.Node, stack []ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok || f.isMessage(n) {
				return false
			}
			if len(stack) > 0 {
				f.visit(n, stack)
			}
			return true
		})
	}
	number(f.all)
	return f.all
}

// declared names what a declaration declares.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		return "(" + receiver(d.Recv.List[0].Type) + ")." + d.Name.Name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				return d.Tok.String() + " " + v.Names[0].Name
			}
		}
		return d.Tok.String()
	}
	return ""
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return "*" + receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// isMessage reports whether n makes the text of an error or a panic: a fault there
// changes what is said and not what is done.
func (f *finder) isMessage(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	text := f.text(call.Fun)
	return f.isBuiltin(call.Fun, "panic") || text == "fmt.Errorf" || text == "errors.New"
}

// add plants a fault in place of a whole node.
func (f *finder) add(operator string, n ast.Node, to string, edits ...edit) {
	f.plant(operator, n.Pos(), n.End(), f.text(n), to, edits...)
}

// plant records a mutant: `from` and `to` are how its name reads.
func (f *finder) plant(operator string, begin, end token.Pos, from, to string, edits ...edit) {
	text := to
	if operator == opLoop {
		text = "/* not entered: */ " + f.textOf(begin, end)
	} else if operator == opCase && to != "true" && to != "false" {
		text = to + " // nothing"
	}
	if to == "" {
		to = "nothing"
	}
	f.all = append(f.all, &Mutant{
		File: f.path, Line: f.tf.Line(begin), Func: f.fn, Operator: operator, From: oneLine(from), To: oneLine(to),
		from: offset(f.tf, begin), to: offset(f.tf, end), text: text, edits: edits, discovery: len(f.all),
	})
}

func (f *finder) last() *Mutant { return f.all[len(f.all)-1] }

// around puts text before and after n.
func (f *finder) around(n ast.Node, before, after string) []edit {
	return []edit{
		{at: offset(f.tf, n.Pos()), kind: opens, text: before},
		{at: offset(f.tf, n.End()), kind: closes, text: after},
	}
}

func (f *finder) text(n ast.Node) string { return f.textOf(n.Pos(), n.End()) }

func (f *finder) textOf(begin, end token.Pos) string {
	return string(f.src[offset(f.tf, begin):offset(f.tf, end)])
}

// typeName writes t as this file would, if it can.
func (f *finder) typeName(t types.Type) (string, bool) {
	ok := true
	name := types.TypeString(types.Default(t), func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		for _, s := range f.file.Imports {
			if strings.Trim(s.Path.Value, `"`) != p.Path() {
				continue
			}
			if s.Name != nil {
				return s.Name.Name
			}
			return p.Name()
		}
		ok = false
		return p.Name()
	})
	return name, ok
}

func (f *finder) ours(p *types.Package) bool {
	return p.Path() == f.module || strings.HasPrefix(p.Path(), f.module+"/")
}

func (f *finder) basic(e ast.Expr) types.BasicInfo {
	t := f.info.TypeOf(e)
	if _, ok := t.(*types.TypeParam); ok {
		return 0
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

func (f *finder) numeric(e ast.Expr) bool {
	return f.basic(e)&types.IsNumeric != 0 && f.basic(e)&types.IsComplex == 0
}

func (f *finder) ordered(e ast.Expr) bool { return f.basic(e)&types.IsOrdered != 0 }

func (f *finder) isError(e ast.Expr) bool {
	return types.Identical(f.info.TypeOf(e), types.Universe.Lookup("error").Type())
}

func (f *finder) isBuiltin(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name && f.info.Types[e].IsBuiltin()
}

func (f *finder) isMap(call *ast.CallExpr) bool {
	_, ok := f.info.TypeOf(call).Underlying().(*types.Map)
	return ok
}
