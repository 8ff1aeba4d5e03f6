package mutation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/golden"
)

func lesson(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("testdata/lesson")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func plant(t *testing.T, o Options) *Report {
	t.Helper()
	o.Root, o.Grace = lesson(t), time.Second/2
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ids(r *Report, status Status) (all []string) {
	for _, e := range r.Mutants {
		if e.Status == status {
			all = append(all, strings.TrimPrefix(e.ID, "parcel/parcel.go "))
		}
	}
	slices.Sort(all)
	return all
}

// What a weak test lets through survives, and a strong one notices it. What no test can
// tell is equivalent where it is listed, and a fault without end is noticed.
func TestWeakAndStrongTests(t *testing.T) {
	weak := Group{Name: "lesson", Packages: []string{"parcel"}}
	r := plant(t, Options{Group: weak})
	alike := "parcel/parcel.go Price: `return 0, errors.New(\"too heavy\")` → `return 0, nil`"
	want := []string{
		"Price: `Limit` → `(Limit + 1)`",
		"Price: `Limit` → `(Limit - 1)`",
		"Price: `grams > Limit` → `grams >= Limit`",
		"Unseen: `a && b` → `a || b`",
		"Unseen: `return a && b` → `return false`",
		"Unseen: `return a && b` → `return true`",
	}
	if got := ids(r, Survived); !slices.Equal(got, want) {
		t.Errorf("the weak test lets through:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, e := range r.Mutants {
		if e.From == "grams -= 100" && e.To == "nothing" && e.By != "parcel TestPrice: did not end" {
			t.Errorf("a loop without end was noticed by %q", e.By)
		}
		if unseen := strings.Contains(e.ID, "Unseen"); unseen != (len(e.Reached) == 0) {
			t.Errorf("%s was reached by %q", e.ID, e.Reached)
		}
	}

	weak.Tests = []string{"strong"}
	r = plant(t, Options{Group: weak, Equivalent: List{alike: "for the sake of the example"}})
	if got := ids(r, Survived); !slices.Equal(got, want[3:]) {
		t.Errorf("the strong test lets through:\n%s", strings.Join(got, "\n"))
	}
	if got := ids(r, Equivalent); len(got) != 1 || r.Listed != 1 || r.Planted != r.Possible-1 {
		t.Errorf("%d planted of %d; equivalent: %q", r.Planted, r.Possible, got)
	}
	if got, want := r.Percent(), 100*float64(r.Planted-3)/float64(r.Planted); got != want {
		t.Errorf("%v%% were noticed, want %v%%", got, want)
	}
}

// Every kind of fault is found where it can be planted, all of them compile side by
// side, and with none active the program does what it did.
func TestEveryKindOfFault(t *testing.T) {
	src, all, err := load(lesson(t), []string{"./every"})
	if err != nil {
		t.Fatal(err)
	}
	_, fit, err := src.rewriteAll(all)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%-10s  %s", m.Operator, strings.TrimPrefix(m.ID(), "every/every.go "))
		if !slices.Contains(fit, m) {
			b.WriteString(" (does not compile)")
		}
		b.WriteString("\n" + m.Diff(src.texts[m.File]))
	}
	golden.MustBe(t, "testdata/every.txt", []byte(b.String()))
	for _, operator := range []string{
		opCondition, opBoundary, opLogic, opArithmetic, opNumber, opRemoved, opReturn, opCase, opLoop, opField, opExtreme, opArguments,
	} {
		if !slices.ContainsFunc(fit, func(m *Mutant) bool { return m.Operator == operator }) {
			t.Errorf("no fault of the kind %q", operator)
		}
	}
	r := plant(t, Options{Group: Group{Packages: []string{"every"}}, Count: 5})
	if r.Planted != 5 {
		t.Errorf("%d mutants were planted; TestAll fails with none active?", r.Planted)
	}
}

// The choice depends on the seed and on what mutants are: one more leaves the others in
// their order, and lines do not matter.
func TestOrder(t *testing.T) {
	var all []*Mutant
	for i := range 50 {
		all = append(all, &Mutant{File: "a.go", Func: "f", From: fmt.Sprint(i), To: "0", Line: i})
	}
	first, second := slices.Clone(all), slices.Clone(all)
	Order(first, 1)
	Order(second, 2)
	if slices.Equal(first, second) {
		t.Error("two seeds choose alike")
	}
	slices.Reverse(all)
	for _, m := range all {
		m.Line += 7
	}
	more := append(slices.Clone(all), &Mutant{File: "b.go", Func: "g", From: "1", To: "2"})
	Order(more, 1)
	if more = slices.DeleteFunc(more, func(m *Mutant) bool { return m.File == "b.go" }); !slices.Equal(first, more) {
		t.Error("one mutant more changed the order of the others")
	}
}

// The mutants that are listed as equivalent are still there.
func TestEquivalentMutantsExist(t *testing.T) {
	list, err := Equivalents()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for id := range list {
		folders = append(folders, "./"+id[:strings.LastIndex(id[:strings.Index(id, ".go ")], "/")])
	}
	if len(folders) == 0 {
		t.Skip("none is listed")
	}
	slices.Sort(folders)
	_, all, err := load(root, slices.Compact(folders))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		delete(list, m.ID())
	}
	for id := range list {
		t.Errorf("%s is listed as equivalent, and there is no such mutant any more", id)
	}
}

func TestParseList(t *testing.T) {
	list, err := parseList("# a remark\n\na.go f: `1` → `2`\na.go g: `1` → `2`\n\tboth do\n\tthe same\nb.go h: `x` → `y` #2\n\tno matter\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list["a.go f: `1` → `2`"] != "both do the same" || list["a.go g: `1` → `2`"] != "both do the same" ||
		list["b.go h: `x` → `y` #2"] != "no matter" {
		t.Errorf("%q", list)
	}
	for name, text := range map[string]string{
		"no reason": "a.go f: `1` → `2`\n", "no mutant": "\tbecause\n", "twice": "a\n\tb\na\n\tc\n",
	} {
		if _, err := parseList(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestParseDiff(t *testing.T) {
	lines := parseDiff(`diff --git a/x/a.go b/x/a.go
--- a/x/a.go
+++ b/x/a.go
@@ -3 +3 @@ func f() {
-a
+b
@@ -10,0 +11,2 @@
+c
+d
@@ -20,2 +22,0 @@
-e
-f
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-g
`)
	touched := ""
	for line := range 30 {
		if lines.Touches(&Mutant{File: "x/a.go", Line: line}) {
			touched += fmt.Sprint(line, " ")
		}
	}
	if touched != "3 11 12 " {
		t.Errorf("lines %sare touched", touched)
	}
}
