package mutation

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// number changes a number that stands in the text, as such or as a constant of this
// module. Constants that stand for one of several things are none.
func (f *finder) number(e ast.Expr, stack []ast.Node) {
	tv, ok := f.info.Types[e]
	if !ok || tv.Value == nil || !f.isNumber(e) || f.mustBeConstant(e, stack) {
		return
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsNumeric == 0 || basic.Info()&types.IsComplex != 0 {
		return
	}
	name, ok := f.typeName(tv.Type)
	if !ok {
		return
	}
	change := func(helper, to string) {
		f.add(opNumber, e, to, f.around(e, "mutant__."+helper+"["+name+"](%K, ", ")")...)
	}
	text := f.text(e)
	if constant.ToInt(tv.Value).Kind() != constant.Int {
		change("Tenfold", "10*"+text)
		return
	}
	more, less := "("+text+" + 1)", "("+text+" - 1)"
	if v, exact := constant.Int64Val(constant.ToInt(tv.Value)); exact {
		if _, literal := e.(*ast.BasicLit); literal {
			more, less = strconv.FormatInt(v+1, 10), strconv.FormatInt(v-1, 10)
		}
	}
	change("OneMore", more)
	if constant.Sign(tv.Value) > 0 || basic.Info()&types.IsUnsigned == 0 {
		change("OneLess", less)
	}
}

// isNumber reports whether e is a literal or the name of a constant of this module
// that is a plain number or a time.
func (f *finder) isNumber(e ast.Expr) bool {
	var name *ast.Ident
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.INT || e.Kind == token.FLOAT
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	}
	c, ok := f.info.Uses[name].(*types.Const)
	if !ok || c.Pkg() == nil || !f.ours(c.Pkg()) {
		return false
	}
	_, basic := c.Type().(*types.Basic)
	return basic || types.TypeString(c.Type(), nil) == "time.Duration"
}

// mustBeConstant reports whether the language wants a constant where e is, or nothing
// depends on its value.
func (f *finder) mustBeConstant(e ast.Expr, stack []ast.Node) bool {
	child := ast.Node(e)
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.GenDecl:
			return n.Tok == token.CONST || n.Tok == token.TYPE
		case *ast.ArrayType:
			return true
		case *ast.SelectorExpr:
			if n.Sel == child {
				return true // seen with the package's name
			}
		case *ast.CaseClause:
			return contains(n.List, child)
		case *ast.ReturnStmt:
			if last := n.Results[len(n.Results)-1]; f.isError(last) && !f.info.Types[last].IsNil() {
				return true // what stands beside an error means nothing
			}
		case *ast.KeyValueExpr:
			if n.Key == child {
				return true
			}
		case *ast.CallExpr:
			if f.isBuiltin(n.Fun, "make") && (len(n.Args) == 3 && n.Args[2] == child || f.isMap(n)) {
				return true
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
		child = stack[i]
	}
	return false
}

func contains(all []ast.Expr, n ast.Node) bool {
	for _, e := range all {
		if ast.Node(e) == n {
			return true
		}
	}
	return false
}

// fields leaves the fields of a literal out, one at a time.
func (f *finder) fields(n *ast.CompositeLit) {
	s, ok := f.info.TypeOf(n).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for _, e := range n.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		tv := f.info.Types[pair.Value]
		if tv.Value != nil || tv.IsNil() || f.isZero(pair.Value) {
			continue
		}
		for field := range s.Fields() {
			if field.Name() == pair.Key.(*ast.Ident).Name && types.Identical(field.Type(), tv.Type) {
				f.add(opField, pair, "", f.around(pair.Value, "mutant__.Zero(%K, ", ")")...)
			}
		}
	}
}

// extremes are functions of the standard library that are taken for one another.
var extremes = map[string]string{
	"math.Floor": "math.Ceil", "math.Ceil": "math.Floor", "math.Min": "math.Max", "math.Max": "math.Min",
}

func (f *finder) call(n *ast.CallExpr) {
	if f.info.Types[n].Value != nil || f.info.Types[n.Fun].IsType() {
		return
	}
	fun := f.text(n.Fun)
	if other, ok := extremes[fun]; ok {
		f.add(opExtreme, n.Fun, other, f.around(n.Fun, "mutant__.Choose(%K, ", ", "+other+")")...)
	}
	if len(n.Args) != 2 || n.Ellipsis.IsValid() {
		return
	}
	for builtin, op := range map[string]swapped{"min": {"Min", "max"}, "max": {"Max", "min"}} {
		if f.isBuiltin(n.Fun, builtin) {
			f.add(opExtreme, n.Fun, op.other,
				edit{at: offset(f.tf, n.Fun.Pos()), length: len(builtin), kind: replaces, text: "mutant__." + op.helper},
				edit{at: offset(f.tf, n.Lparen) + 1, kind: opens, text: "%K, "})
		}
	}
	x, y := f.info.Types[n.Args[0]], f.info.Types[n.Args[1]]
	if f.info.Types[n.Fun].IsBuiltin() || extremes[fun] != "" || x.Value != nil || y.Value != nil || x.IsNil() || y.IsNil() ||
		x.IsType() || !types.Identical(x.Type, y.Type) || f.text(n.Args[0]) == f.text(n.Args[1]) {
		return
	}
	swapped := f.text(n.Args[1]) + ", " + f.text(n.Args[0])
	f.plant(opArguments, n.Args[0].Pos(), n.Args[1].End(), f.text(n), fun+"("+swapped+")",
		edit{at: offset(f.tf, n.Args[0].Pos()), kind: opens, text: "mutant__.Swap(%K, "},
		edit{at: offset(f.tf, n.Args[1].End()), kind: closes, text: ")"})
	f.last().text = swapped
}
