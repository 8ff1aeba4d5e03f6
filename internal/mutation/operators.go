package mutation

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// The kinds of faults, by the names that reports give them.
const (
	opCondition  = "condition"  // a condition that always or never holds, or its opposite
	opBoundary   = "boundary"   // < for <=, and the other way round
	opLogic      = "logic"      // && for ||
	opArithmetic = "arithmetic" // + for -, * for /, & for |
	opNumber     = "number"     // one more, one less, tenfold
	opRemoved    = "removed"    // a statement that is left out
	opReturn     = "return"     // zero values, true or false
	opCase       = "case"       // a case that does nothing or is not taken
	opLoop       = "loop"       // a loop that is not entered
	opField      = "field"      // a field of a literal that is left out
	opExtreme    = "extreme"    // min for max, floor for ceiling
	opArguments  = "arguments"  // two arguments of a type in the other order
)

// active is the condition that the mutant is active.
const active = "mutant__.Is(%K)"

// visit plants what can be planted at n itself.
func (f *finder) visit(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		f.loop(n, n.Body)
	case *ast.RangeStmt:
		f.loop(n, n.Body)
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.UnaryExpr:
		f.unary(n)
	case *ast.CaseClause:
		f.clause(n, stack)
	case *ast.CommClause:
		f.emptied(n, n.Colon, n.Body)
	case *ast.ReturnStmt:
		f.returned(n, stack)
	case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr:
		f.number(n.(ast.Expr), stack)
	case *ast.CompositeLit:
		f.fields(n)
	case *ast.CallExpr:
		f.call(n)
	}
	if s, ok := n.(ast.Stmt); ok && inList(s, stack) {
		f.statement(s)
	}
}

// inList reports whether s is one of several statements, where another may stand
// before it.
func inList(s ast.Stmt, stack []ast.Node) bool {
	var list []ast.Stmt
	switch parent := stack[len(stack)-1].(type) {
	case *ast.BlockStmt:
		list = parent.List
	case *ast.CaseClause:
		list = parent.Body
	case *ast.CommClause:
		list = parent.Body
	}
	for _, other := range list {
		if other == s {
			return true
		}
	}
	return false
}

func (f *finder) condition(cond ast.Expr) {
	f.add(opCondition, cond, "true", f.around(cond, "((", ") || "+active+")")...)
	f.add(opCondition, cond, "false", f.around(cond, "((", ") && !"+active+")")...)
}

func (f *finder) loop(n ast.Stmt, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	whole := f.textOf(n.Pos(), body.Lbrace)
	leave := edit{at: offset(f.tf, body.Lbrace) + 1, kind: opens, text: " if " + active + " { break };"}
	f.plant(opLoop, n.Pos(), body.End(), whole+"{ … }", "{}", leave)
}

func (f *finder) binary(n *ast.BinaryExpr) {
	if f.info.Types[n].Value != nil {
		return // a constant
	}
	x, y := f.text(n.X), f.text(n.Y)
	infix := func(op string) string { return x + " " + op + " " + y }
	helper := func(kind, name, op string) {
		edits := []edit{
			{at: offset(f.tf, n.Pos()), kind: opens, text: "mutant__." + name + "(%K, "},
			{at: offset(f.tf, n.OpPos), length: len(n.Op.String()), kind: replaces, text: ","},
			{at: offset(f.tf, n.End()), kind: closes, text: ")"},
		}
		f.add(kind, n, infix(op), edits...)
	}
	switch n.Op {
	case token.LAND, token.LOR:
		other := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[n.Op]
		// By De Morgan: both operands and the whole change sides, and the second is
		// looked at when it would be.
		flipped := ") != " + active + ")"
		edits := append(f.around(n.X, "((((", flipped), f.around(n.Y, "((", flipped+flipped)...)
		f.add(opLogic, n, infix(other), edits...)
	case token.EQL, token.NEQ:
		other := map[token.Token]string{token.EQL: "!=", token.NEQ: "=="}[n.Op]
		f.add(opCondition, n, infix(other), f.around(n, "((", ") != "+active+")")...)
	}
	if op, ok := boundaries[n.Op]; ok && f.ordered(n.X) && f.ordered(n.Y) {
		helper(opBoundary, op.helper, op.other)
	}
	if op, ok := arithmetic[n.Op]; ok && f.numeric(n) {
		helper(opArithmetic, op.helper, op.other)
	}
}

type swapped struct{ helper, other string }

var boundaries = map[token.Token]swapped{
	token.LSS: {"Less", "<="}, token.LEQ: {"LessEqual", "<"}, token.GTR: {"Greater", ">="}, token.GEQ: {"GreaterEqual", ">"},
}

var arithmetic = map[token.Token]swapped{
	token.ADD: {"Add", "-"}, token.SUB: {"Subtract", "+"}, token.MUL: {"Multiply", "/"}, token.QUO: {"Divide", "*"},
	token.REM: {"Remainder", "*"}, token.AND: {"And", "|"}, token.OR: {"Or", "&"},
}

func (f *finder) unary(n *ast.UnaryExpr) {
	if f.info.Types[n].Value != nil {
		return
	}
	switch {
	case n.Op == token.NOT:
		f.add(opCondition, n, f.text(n.X), f.around(n, "((", ") != "+active+")")...)
	case n.Op == token.SUB && f.numeric(n):
		f.add(opArithmetic, n, f.text(n.X),
			edit{at: offset(f.tf, n.Pos()), length: 1, kind: replaces, text: "mutant__.Negative(%K, "},
			edit{at: offset(f.tf, n.End()), kind: closes, text: ")"})
	}
}

// clause empties a case. One of a switch without a value also is not taken.
func (f *finder) clause(n *ast.CaseClause, stack []ast.Node) {
	f.emptied(n, n.Colon, n.Body)
	sw, ok := stack[len(stack)-2].(*ast.SwitchStmt)
	if !ok || sw.Tag != nil {
		return
	}
	for _, cond := range n.List {
		f.add(opCase, cond, "false", f.around(cond, "((", ") && !"+active+")")...)
		f.add(opCase, cond, "true", f.around(cond, "((", ") || "+active+")")...)
	}
}

func (f *finder) emptied(n ast.Stmt, colon token.Pos, body []ast.Stmt) {
	if len(body) == 0 {
		return
	}
	if b, ok := body[len(body)-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
		return
	}
	head := f.textOf(n.Pos(), colon+1)
	f.plant(opCase, n.Pos(), n.End(), head+" …", head,
		edit{at: offset(f.tf, colon) + 1, kind: opens, text: " if !" + active + " {"},
		edit{at: offset(f.tf, n.End()), kind: closes, text: "}"})
}

func (f *finder) statement(s ast.Stmt) {
	before := func(text string) edit { return edit{at: offset(f.tf, s.Pos()), kind: opens, text: text} }
	after := func(text string) edit { return edit{at: offset(f.tf, s.End()), kind: closes, text: text} }
	remove := func() { f.add(opRemoved, s, "", before("if !"+active+" {"), after("}")) }
	instead := func(text string) {
		if !strings.Contains(text, "\n") {
			f.add(opArithmetic, s, text, before("if "+active+" {"+text+"} else {"), after("}"))
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || blank(s.Lhs) {
			return
		}
		remove()
		switch x, y := f.text(s.Lhs[0]), f.text(s.Rhs[0]); {
		case s.Tok == token.ADD_ASSIGN && f.numeric(s.Lhs[0]):
			instead(x + " -= " + y)
		case s.Tok == token.SUB_ASSIGN && f.numeric(s.Lhs[0]):
			instead(x + " += " + y)
		}
	case *ast.IncDecStmt:
		remove()
		instead(f.text(s.X) + map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok])
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && !f.isBuiltin(call.Fun, "panic") {
			remove()
		}
	case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
		remove()
	case *ast.BranchStmt:
		if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
			remove()
		}
	}
}

func blank(all []ast.Expr) bool {
	for _, e := range all {
		if name, ok := e.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	return true
}

// returned returns zero values instead, and of a single truth value the opposite
// and each constant.
func (f *finder) returned(n *ast.ReturnStmt, stack []ast.Node) {
	results := enclosing(stack).Results
	if results == nil || len(n.Results) == 0 {
		return
	}
	instead := func(values string) {
		f.add(opReturn, n, "return "+values, edit{at: offset(f.tf, n.Pos()), kind: opens, text: "if " + active + " { return " + values + " }; "})
	}
	var zeros []string
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			zeros = append(zeros, f.zero(field.Type))
		}
	}
	if len(zeros) == 1 && zeros[0] == "false" {
		value := f.info.Types[n.Results[0]].Value
		if value == nil || constant.BoolVal(value) {
			instead("false")
		}
		if value == nil || !constant.BoolVal(value) {
			instead("true")
		}
		return
	}
	for _, e := range n.Results {
		if !f.isZero(e) {
			instead(strings.Join(zeros, ", "))
			return
		}
	}
}

// enclosing is the type of the function that the innermost node of stack is in.
func enclosing(stack []ast.Node) *ast.FuncType {
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.FuncLit:
			return n.Type
		case *ast.FuncDecl:
			return n.Type
		}
	}
	panic("mutation: a return outside of a function")
}

// zero writes the zero value of a type.
func (f *finder) zero(of ast.Expr) string {
	t := f.info.TypeOf(of)
	if _, ok := t.(*types.TypeParam); ok {
		return "*new(" + f.text(of) + ")"
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Info()&types.IsBoolean != 0:
			return "false"
		case t.Info()&types.IsNumeric != 0:
			return "0"
		case t.Info()&types.IsString != 0:
			return `""`
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature, *types.Chan:
		return "nil"
	}
	return "*new(" + f.text(of) + ")"
}

func (f *finder) isZero(e ast.Expr) bool {
	if v := f.info.Types[e].Value; v != nil {
		switch v.Kind() {
		case constant.Bool:
			return !constant.BoolVal(v)
		case constant.String:
			return constant.StringVal(v) == ""
		}
		return constant.Sign(v) == 0
	}
	if lit, ok := e.(*ast.CompositeLit); ok {
		_, slice := f.info.TypeOf(e).Underlying().(*types.Slice)
		_, mapped := f.info.TypeOf(e).Underlying().(*types.Map)
		return len(lit.Elts) == 0 && !slice && !mapped
	}
	return f.info.Types[e].IsNil()
}
