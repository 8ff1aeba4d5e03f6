package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A fence is a fenced block of a page, with the HTML comments that stand right
// before it. They say what a test is to make of it:
//
//	<!-- not run: REASON -->  its commands need what a test does not have
//	<!-- full: REASON -->     its commands are run with DMEBENCH_TESTS=full only: they take long
//	<!-- needs: PROGRAM -->   its commands are run where there is such a program
//	<!-- exact -->            its output is the same on every machine, to the byte
//	<!-- file: NAME -->       its text is the file NAME, which later commands read
//
// Commands that are not run must still be commands: the flags that they use are
// looked up.
type fence struct {
	line     int // of the opening ```, from 1
	language string
	notRun   string
	full     string
	needs    string
	exact    bool
	file     string
	lines    []string
	start    int // index of its first line among those of the page
}

// asPrinted stands right before a paragraph that says what a command above it has
// printed, in these words; they are divided by semicolons.
var asPrinted = regexp.MustCompile(`^<!-- as printed: (.+) -->$`)

// misquoted lists what a page says that commands have printed, and the page does not show.
func misquoted(page string) (faults []string) {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		m := asPrinted.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		blocks, _ := fences(strings.Join(lines[:i], "\n"))
		for words := range strings.SplitSeq(m[1], "; ") {
			quoted := regexp.MustCompile(`(?:^|\W)` + regexp.QuoteMeta(words) + `(?:\W|$)`)
			shown := slices.ContainsFunc(blocks, func(f fence) bool { return quoted.MatchString(strings.Join(f.lines, "\n")) })
			// In prose, thousands have a comma.
			if said := i+1 < len(lines) && quoted.MatchString(thousands.ReplaceAllString(lines[i+1], "$1$2")); !said || !shown {
				faults = append(faults, fmt.Sprintf("line %d: %q: in the paragraph %v, printed above it %v", i+1, words, said, shown))
			}
		}
	}
	return faults
}

var thousands = regexp.MustCompile(`(\d),(\d{3})\b`)

var comment = regexp.MustCompile(`^<!-- (not run|full|needs|exact|file)(?:: (.+))? -->$`)

// fences reads the blocks of a page.
func fences(page string) ([]fence, error) {
	var all []fence
	var next fence
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := comment.FindStringSubmatch(line); m != nil {
			switch m[1] {
			case "not run":
				next.notRun = m[2]
			case "full":
				next.full = m[2]
			case "needs":
				next.needs = m[2]
			case "exact":
				next.exact = true
			case "file":
				next.file = m[2]
			}
			if (m[1] == "exact") == (m[2] != "") {
				return nil, fmt.Errorf("line %d: %q needs a reason or a name, and 'exact' none", i+1, line)
			}
			continue
		}
		if strings.HasPrefix(line, "<!--") && !asPrinted.MatchString(line) {
			return nil, fmt.Errorf("line %d: a comment that no test understands: %s", i+1, line)
		}
		if !strings.HasPrefix(line, "```") {
			if line != "" && (next.notRun != "" || next.full != "" || next.needs != "" || next.exact || next.file != "") {
				return nil, fmt.Errorf("line %d: the comment above must stand right before a fenced block", i+1)
			}
			continue
		}
		next.line, next.language, next.start = i+1, strings.TrimPrefix(line, "```"), i+1
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: a block without an end", i+1)
		}
		next.lines = lines[i+1 : end]
		all = append(all, next)
		next, i = fence{}, end
	}
	return all, nil
}

// A command is one of a fence, with the output that the page shows for it.
type command struct {
	fence *fence
	line  int    // in the page, from 1
	text  string // one line or, with a backslash or a here-document, several
	shown bool   // whether the page shows what it prints
	want  []string
	start int // index of the first line of want among those of the page
}

var (
	prompt       = regexp.MustCompile(`^([A-Za-z0-9]+)?\$ `)
	hereDocument = regexp.MustCompile(`<<'?([A-Z]+)'?`)
)

// commands reads those of a fence: every line of sh, those with a prompt in
// console. Only the latter shows what they print.
func commands(f *fence) ([]command, error) {
	var all []command
	for i := 0; i < len(f.lines); i++ {
		line := f.lines[i]
		if f.language == "console" {
			p := prompt.FindString(line)
			if p == "" {
				if len(all) == 0 && f.notRun == "" {
					return nil, fmt.Errorf("line %d: an output before the first command", f.start+i+1)
				}
				if len(all) > 0 {
					last := &all[len(all)-1]
					last.want = append(last.want, line)
				}
				continue
			}
			if p != "$ " && f.notRun == "" {
				return nil, fmt.Errorf("line %d: the prompt of another host in a block that is run here", f.start+i+1)
			}
			line = strings.TrimPrefix(line, p)
		} else if f.language != "sh" {
			return nil, nil
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := command{fence: f, line: f.start + i + 1, text: line, shown: f.language == "console"}
		end := ""
		if m := hereDocument.FindStringSubmatch(line); m != nil {
			end = m[1]
		}
		for i+1 < len(f.lines) && (end != "" || strings.HasSuffix(line, `\`)) {
			i++
			line = f.lines[i]
			c.text += "\n" + line
			if line == end {
				break
			}
		}
		c.start = f.start + i + 1
		all = append(all, c)
	}
	for i := range all {
		for want := &all[i].want; len(*want) > 0 && (*want)[len(*want)-1] == ""; {
			*want = (*want)[:len(*want)-1]
		}
	}
	return all, nil
}
