package mutation

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Lines are ranges of lines, by file: what a change touches.
type Lines map[string][][2]int

// Changed returns the lines that differ from a commit, and are there now.
func Changed(root, ref string) (Lines, error) {
	form := []string{"--unified=0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", "--relative"}
	cmd := exec.Command("git", slices.Concat([]string{"diff"}, form, []string{ref, "--", "*.go"})...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mutation: git diff %s: %w; is it a commit of this repository?", ref, err)
	}
	return parseDiff(string(out)), nil
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

func parseDiff(diff string) Lines {
	lines := make(Lines)
	file := ""
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			file = strings.TrimRight(name, "\t\n")
		}
		if m := hunk.FindStringSubmatch(line); m != nil {
			first, _ := strconv.Atoi(m[1])
			count := 1
			if m[2] != "" {
				count, _ = strconv.Atoi(m[2])
			}
			lines[file] = append(lines[file], [2]int{first, first + count - 1})
		}
	}
	return lines
}

// Touches reports whether m begins on one of the lines.
func (l Lines) Touches(m *Mutant) bool {
	for _, r := range l[m.File] {
		if r[0] <= m.Line && m.Line <= r[1] {
			return true
		}
	}
	return false
}
