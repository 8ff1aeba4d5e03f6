package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What differs from run to run although everything printed is the same to the
// byte: when a sweep was begun, and the pace of a search.
var (
	begun = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(-\d+)?`)
	pace  = regexp.MustCompile(`\([^()]* schedules/s with \d+ workers\)|\([^()]* states/s with \d+ workers\)`)
	built = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)
)

// A figure has its sign and its unit, which a time may change from run to run. A
// digit within a word is none.
var figure = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*|(?:\d+h)?\d+m[\d.]+s\b|` +
	`[-+−]?\d[\d,.]*(?:[eE][-+]?\d+)?(?: ?(?:ns|µs|us|ms|min|s|m|h)\b| ?%)?`)

var (
	blanks = regexp.MustCompile(`[ \t]+`)
	rules  = regexp.MustCompile(`[-─━═]{3,}`)
)

// exactly is a line as every machine prints it.
func exactly(line string) string {
	line = begun.ReplaceAllString(line, "<begun>")
	line = pace.ReplaceAllString(line, "(<pace>)")
	return strings.TrimRight(line, " ")
}

// form is a line with its figures, folders and columns' widths left out.
func form(line string) string {
	line = begun.ReplaceAllString(line, "<begun>")
	line = built.ReplaceAllStringFunc(line, func(s string) string {
		if strings.ContainsAny(s, "abcdef") && strings.ContainsAny(s, "0123456789") {
			return "<built>"
		}
		return s
	})
	line = figure.ReplaceAllStringFunc(line, func(s string) string {
		if strings.ContainsAny(s[:1], "0123456789-+") || strings.HasPrefix(s, "−") {
			return "#"
		}
		return s
	})
	line = strings.ReplaceAll(line, "(cached)", "#") // in place of the time that a test takes
	line = rules.ReplaceAllString(line, "---")
	return strings.TrimSpace(blanks.ReplaceAllString(line, " "))
}

// elided stands in a page for any number of lines.
const elided = "…"

// withoutWarnings leaves out what a run says of the machine that it ran on: its
// last lines.
func withoutWarnings(lines []string) []string {
	for i, line := range lines {
		if strings.HasPrefix(line, "warnings ") {
			end := i + 1
			for end < len(lines) && strings.HasPrefix(lines[end], "   ") {
				end++
			}
			return slices.Concat(lines[:i], lines[end:])
		}
	}
	return lines
}

// alike compares what a page shows with what a command has printed, line by line
// as the function sees them.
func alike(want, got []string, see func(string) string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == elided {
		for skip := range len(got) + 1 {
			if alike(want[1:], got[skip:], see) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && see(want[0]) == see(got[0]) && alike(want[1:], got[1:], see)
}

// refreshed is what the page is to show: what was printed, with what the page
// leaves out left out again. It fails where other words stand at the joints.
func refreshed(want, got []string) ([]string, bool) {
	if !slices.Contains(want, elided) {
		return got, true
	}
	var fresh []string
	for i := 0; i < len(want); i++ {
		if want[i] == elided {
			fresh = append(fresh, elided)
			if i+1 == len(want) {
				return fresh, true
			}
			next := slices.IndexFunc(got, func(line string) bool { return form(line) == form(want[i+1]) })
			if next < 0 {
				return nil, false
			}
			got = got[next:]
			continue
		}
		if len(got) == 0 {
			return nil, false
		}
		fresh, got = append(fresh, got[0]), got[1:]
	}
	return fresh, len(got) == 0
}

// The comparison sees other words, other lines and other figures where these
// count, and nothing else.
func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		want, got    string
		exact, alike bool
	}{
		{"p50 2.351ms  max 4.39ms", "p50 33.6µs max 1.5s", false, true},
		{"p50 2.351ms  max 4.39ms", "p50 2.351ms  max 4.39ms", true, true},
		{"p50 2.351ms  max 4.39ms", "p50 2.352ms  max 4.39ms", true, false},
		{"p50 2.351ms", "p90 2.351ms", false, false},
		{"waits 2ms", "response 2ms", false, false},
		{"a 1\nb 2", "a 1", false, false},
		{"a 1", "a 1\nb 2", false, false},
		{"a 1\n…\nz 9", "a 2\nb\nc\nz 8", false, true},
		{"a 1\n…\nz 9", "a 2\nb\nc\ny 8", false, false},
		{"results in x/2026-11-21T20-10-13Z", "results in x/2025-01-02T03-04-05Z", true, true},
		{"283 steps (0s, 2,780 schedules/s with 2 workers)", "283 steps (1s, 9 schedules/s with 8 workers)", true, true},
		{"283 steps (0s, 2,780 schedules/s with 2 workers)", "284 steps (1s, 9 schedules/s with 8 workers)", true, false},
		{"869 (1ms, 1,000,000 states/s with 2 workers)", "869 (9ms, 3 states/s with 64 workers)", true, true},
		{"ok  	dmebench/dme	1.373s", "ok  	dmebench/dme	(cached)", false, true},
		{"0 violations", "no violations", false, false},
		{"────── 1", "──────── 100", false, true},
		{"sha256 d3b02955f9e0", "sha256 83c1ae175e70", false, true},
		{"added", "faded", false, false},
		{"± 14.4µs between", "± 3s between", false, true},
		{"takes 1m12s", "takes 9s", false, true},
	} {
		see := form
		if c.exact {
			see = exactly
		}
		if got := alike(strings.Split(c.want, "\n"), strings.Split(c.got, "\n"), see); got != c.alike {
			t.Errorf("%q and %q: alike is %v", c.want, c.got, got)
		}
	}
}
