// Package units writes measured values as a person would, with a unit and as many digits as
// the value deserves; and it finds the name that a person meant: the one that differs in
// case only, which is taken for it, and the nearest to one that does not exist, which is
// suggested. It is pure and knows nothing of what the values and names mean.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// digits is the number of significant digits of a written value: more than a
// confidence interval ever justifies would only look precise.
const digits = 4

// Missing stands for a missing value.
const Missing = "–"

// A Scale divides values of a quantity so that they can be written in one unit.
type Scale struct {
	Divisor float64
	Unit    string // "" if the quantity has none
}

// Plain is the Scale of a number without a unit.
func Plain() Scale { return Scale{Divisor: 1} }

// TimeScale returns the unit in which a time of ns nanoseconds is best written.
func TimeScale(ns float64) Scale {
	ns = math.Abs(ns)
	switch {
	case ns >= 1e9:
		return Scale{1e9, "s"}
	case ns >= 1e6:
		return Scale{1e6, "ms"}
	case ns >= 1e3:
		return Scale{1e3, "µs"}
	}
	return Scale{1, "ns"}
}

// Number writes x without the unit.
func (s Scale) Number(x float64) string { return Number(x / s.Divisor) }

// Write writes x with the unit.
func (s Scale) Write(x float64) string {
	if s.Unit == "" || !finite(x) {
		return s.Number(x)
	}
	return s.Number(x) + " " + s.Unit
}

// Time writes a time of ns nanoseconds: "1.23 ms".
func Time(ns float64) string {
	if ns == 0 {
		return "0 s"
	}
	return TimeScale(ns).Write(ns)
}

// Number writes x with four significant digits, without trailing zeros;
// integer digits are never cut and stand in groups of three.
func Number(x float64) string {
	switch {
	case !finite(x):
		return Missing
	case x == 0:
		return "0"
	case math.Abs(x) < 1e-4 || math.Abs(x) >= 1e12:
		return strings.Replace(strconv.FormatFloat(x, 'g', digits, 64), "e-0", "e-", 1)
	}
	whole := 1 + int(math.Floor(math.Log10(math.Abs(x))))
	s := strconv.FormatFloat(x, 'f', max(0, digits-whole), 64)
	if strings.ContainsRune(s, '.') {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return group(s)
}

// Count writes an integer in groups of three digits.
func Count(n uint64) string { return group(strconv.FormatUint(n, 10)) }

// Counted counts things: "1 host", "2,000 hosts", "3 processes".
func Counted(n int, thing string) string {
	if n != 1 {
		thing = strings.Replace(thing+"s", "sss", "sses", 1)
	}
	return group(strconv.Itoa(n)) + " " + thing
}

func group(s string) string {
	sign, fraction := "", ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		s, fraction = s[:i], s[i:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s + fraction
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// longest is how many bytes of a text a file's name takes.
const longest = 120

// Slug keeps of s what every file system and every URL can hold.
func Slug(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "µ", "u")
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.')
	})
	s = strings.Join(words, "-")
	return strings.Trim(s[:min(len(s), longest)], "-.")
}

// Names are names of files that are taken.
type Names map[string]bool

// Take returns the slug of s, with a number if that is taken, and takes it.
func (n Names) Take(s string) string {
	name := Slug(s)
	for i := 2; n[name]; i++ {
		name = Slug(s) + "-" + strconv.Itoa(i)
	}
	n[name] = true
	return name
}

// Bounded writes a time of ns nanoseconds whose error has a bound: "50.0124 ms ± 42 µs".
// The value has as many digits as the bound gives a meaning to, and the bound, with
// two digits, is rounded up. Without a bound it is [Time].
func Bounded(ns, bound float64) string {
	if !finite(ns) || !finite(bound) || bound <= 0 {
		return Time(ns)
	}
	s := TimeScale(max(math.Abs(ns), bound))
	unit := math.Pow(10, math.Floor(math.Log10(bound))-1) // of the bound's second digit
	decimals := max(0, int(math.Ceil(math.Log10(s.Divisor/unit)-1e-9)))
	value := group(strconv.FormatFloat(ns/s.Divisor, 'f', decimals, 64))
	if math.Abs(ns)/s.Divisor < 0.5*math.Pow10(-decimals) {
		value = "0" // and no −0.00
	}
	return value + " " + s.Unit + " ± " + Time(math.Ceil(bound/unit*(1-1e-12))*unit)
}

// Bytes writes a number of bytes with three significant digits: "1.23 GB".
func Bytes(n uint64) string {
	names := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	x, i := float64(n), 0
	for x >= 1000 && i+1 < len(names) {
		x, i = x/1000, i+1
	}
	if i == 0 {
		return fmt.Sprint(n, " ", names[i])
	}
	return fmt.Sprintf("%.3g %s", x, names[i])
}

// Spread writes the larger half of the interval of a median, relative to the median: "2%". It is
// "∞" if there is no interval, as benchstat has it, "?" if the median is 0 and the interval is not,
// and "" if there is no median.
func Spread(median, lo, hi *float64) string {
	switch {
	case median == nil:
		return ""
	case lo == nil || hi == nil:
		return "∞"
	case *lo == *hi:
		return "0%"
	case *median == 0:
		return "?"
	}
	return fmt.Sprintf("%.0f%%", 100*math.Max(*hi-*median, *median-*lo)/math.Abs(*median))
}
