package units

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDistance is the largest edit distance at which a name is suggested.
const MaxDistance = 2

// shortestPrefix is the number of letters from which the beginning of a name
// suggests the name.
const shortestPrefix = 3

// FindName returns the name among names that is meant by name: the same, or, if there is none,
// the only one that differs from it in case alone. ok is false if there is none.
func FindName(name string, names []string) (found string, ok bool) {
	matches := 0
	for _, n := range names {
		if n == name {
			return n, true
		}
		if strings.EqualFold(n, name) && n != found {
			found = n
			matches++
		}
	}
	if matches != 1 {
		return "", false
	}
	return found, true
}

// Texts writes each element of a list.
func Texts[T any](list []T, text func(T) string) []string {
	all := make([]string, len(list))
	for i, x := range list {
		all[i] = text(x)
	}
	return all
}

// Lookup returns the element of a list that goes by that name, as [FindName] has it. The error
// names all of them; what says what they are.
func Lookup[T any](what, name string, list []T, nameOf func(T) string) (found T, err error) {
	names := Texts(list, nameOf)
	if n, ok := FindName(name, names); ok {
		return list[slices.Index(names, n)], nil
	}
	return found, UnknownName(what, name, names, Listed(names))
}

// NearestName returns the name among names that is nearest to name, ignoring case: at most
// [MaxDistance] insertions, deletions, replacements or exchanges of neighbouring letters away, and
// fewer than it has letters. Of several as near it returns the one that begins like name for
// longest, and of these the first. If none is near it returns the only one that begins with name,
// or else the longest with which name begins; "" if there is none either.
func NearestName(name string, names []string) string {
	const none = MaxDistance + 1
	given := strings.ToLower(name)
	best, distance, prefix := "", none, -1
	for _, n := range names {
		lower := strings.ToLower(n)
		d := edits(given, lower, MaxDistance)
		if d >= none || d >= utf8.RuneCountInString(n) {
			continue
		}
		if p := commonPrefix(given, lower); d < distance || d == distance && p > prefix {
			best, distance, prefix = n, d, p
		}
	}
	if best != "" || len(given) < shortestPrefix {
		return best
	}
	for _, n := range names {
		if strings.HasPrefix(strings.ToLower(n), given) {
			if best != "" {
				return ""
			}
			best = n
		}
	}
	for _, n := range names { // none of them is longer than what was found
		if len(n) > max(len(best), shortestPrefix-1) && strings.HasPrefix(given, strings.ToLower(n)) {
			best = n
		}
	}
	return best
}

// UnknownName says that nothing has that name: `unknown transport "tpc"; did you mean
// 'tcp'?`. If no name is near it ends with otherwise, which says what there is.
func UnknownName(kind, name string, names []string, otherwise string) error {
	if hint := Hint(name, names); hint != "" {
		return fmt.Errorf("unknown %s %q%s", kind, name, hint)
	}
	return fmt.Errorf("unknown %s %q; %s", kind, name, otherwise)
}

// Hint is what may be added to an error about a name: "; did you mean 'tcp'?", or "" if no name is
// near.
func Hint(name string, names []string) string {
	if near := NearestName(name, names); near != "" {
		return "; did you mean '" + near + "'?"
	}
	return ""
}

// Listed is what Unknown ends with if the names are few: "there are a, b, c".
func Listed(names []string) string { return "there are " + strings.Join(names, ", ") }

func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// edits returns how many insertions, deletions, replacements and exchanges of neighbouring letters,
// one after the other, lead from a to b (Damerau 1964, by the algorithm of Lowrance and Wagner
// 1975); most+1 if they are more than most.
func edits(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	far := len(x) + len(y)
	d := make([][]int, len(x)+2) // d[i+1][j+1] is between the first i and j letters
	for i := range d {
		d[i] = make([]int, len(y)+2)
		d[i][0] = far
		if i > 0 {
			d[i][1] = i - 1
		}
	}
	for j := range y {
		d[0][j+2], d[1][j+2] = far, j+1
	}
	d[0][1] = far
	lastRow := make(map[rune]int) // in which a letter of y was last seen in x
	for i := 1; i <= len(x); i++ {
		lastColumn := 0 // in which x's letter was last seen in y
		for j := 1; j <= len(y); j++ {
			row, column := lastRow[y[j-1]], lastColumn
			cost := 1
			if x[i-1] == y[j-1] {
				cost, lastColumn = 0, j
			}
			d[i+1][j+1] = min(d[i][j]+cost, d[i+1][j]+1, d[i][j+1]+1, d[row][column]+(i-row-1)+1+(j-column-1))
		}
		lastRow[x[i-1]] = i
	}
	return min(d[len(x)+1][len(y)+1], most+1)
}
