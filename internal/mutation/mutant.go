package mutation

import (
	"cmp"
	"fmt"
	"go/token"
	"hash/fnv"
	"slices"
	"strings"
)

// Mutant is a fault that can be planted: a range of a file's text, and what stands
// there instead.
type Mutant struct {
	File     string // relative to the root of the module, with slashes
	Line     int
	Func     string // such as `(*agenda).pop`; `var x` for the value of a variable
	Operator string // the kind of fault, such as "boundary"
	From, To string // the text as it is and as it becomes, on one line
	Nth      int    // which of several in Func that read the same, from 1

	from, to  int    // the range of the file's text
	text      string // what replaces it
	edits     []edit // how the mutant is compiled beside the original
	discovery int    // parents are discovered before their children
}

// edit is an insertion into a file's text, or the replacement of a token. In its text,
// `%K` stands for the mutant's number.
type edit struct {
	at     int
	length int // of what is replaced; 0 for an insertion
	kind   editKind
	text   string
}

type editKind int

const (
	closes   editKind = iota // belongs to what ends here
	opens                    // belongs to what begins here
	replaces                 // stands for the token here
)

// ID names a mutant by what it is, whatever the line it is on.
func (m *Mutant) ID() string {
	id := fmt.Sprintf("%s %s: `%s` → `%s`", m.File, m.Func, m.From, m.To)
	if m.Nth > 1 {
		id += fmt.Sprintf(" #%d", m.Nth)
	}
	return id
}

// Diff shows the lines of src, the text of the mutant's file, as they are and as they
// become.
func (m *Mutant) Diff(src []byte) string {
	begin := 1 + strings.LastIndexByte(string(src[:m.from]), '\n')
	end := len(src)
	if i := strings.IndexByte(string(src[m.to:]), '\n'); i >= 0 {
		end = m.to + i
	}
	var b strings.Builder
	for line := range strings.SplitSeq(string(src[begin:end]), "\n") {
		b.WriteString("-" + line + "\n")
	}
	for line := range strings.SplitSeq(string(src[begin:m.from])+m.text+string(src[m.to:end]), "\n") {
		b.WriteString("+" + line + "\n")
	}
	return b.String()
}

// number tells mutants of a file apart that read the same.
func number(all []*Mutant) {
	slices.SortStableFunc(all, func(a, b *Mutant) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	times := make(map[string]int)
	for _, m := range all {
		m.Nth = 0
		id := m.ID()
		times[id]++
		m.Nth = times[id]
	}
}

// Order sorts mutants as a seed has it, which depends on what they are and on nothing
// else: another mutant more or less leaves the order of the others as it was.
func Order(all []*Mutant, seed uint64) {
	key := func(m *Mutant) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", seed, m.ID())
		return mix(h.Sum64())
	}
	keys := make(map[*Mutant]uint64, len(all))
	for _, m := range all {
		keys[m] = key(m)
	}
	slices.SortFunc(all, func(a, b *Mutant) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a.ID(), b.ID())) })
}

// mix spreads a hash over all its bits: FNV leaves those of similar texts similar. It
// is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// oneLine writes text on one line of bounded length.
func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > 120 {
		line = append(line[:119], '…')
	}
	return string(line)
}

// offset is where pos is in its file.
func offset(f *token.File, pos token.Pos) int { return f.Offset(pos) }
