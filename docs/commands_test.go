package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dmebench/internal/testkit"
)

// Every command of every page does what the page says: it runs, in order, in a
// shell in a copy of the repository, and what it prints is what the page shows.
// Figures that depend on the machine may differ; what is computed may not.
func TestCommands(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../README.md", "../results/README.md", "*.md", "guide/*.md", "decisions/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the pages' commands are for bash: ", err)
	}
	programs := program(t)
	t.Run("faulty pages", func(t *testing.T) {
		t.Parallel()
		testkit.TakesLong(t)
		testFaultyPages(t, programs)
	})
	t.Run("flags", func(t *testing.T) { testUnknownFlags(t, programs) })
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.ToSlash(filepath.Join("docs", page)), ".md"), func(t *testing.T) {
			text := string(read(t, page))
			if lengthy.MatchString(text) && !testkit.Long() && !testkit.Rewriting() {
				t.Skip("it sweeps, reports, advises or builds: needs DMEBENCH_TESTS=long")
			}
			t.Parallel()
			faults, fresh := follow(t, page, text, programs)
			if testkit.Rewriting() && fresh != text {
				if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, fault := range faults {
				if testkit.Rewriting() && fresh != text {
					t.Log(fault)
				} else {
					t.Error(fault)
				}
			}
		})
	}
}

var (
	// lengthy are commands that take long.
	lengthy = regexp.MustCompile(`(?m)^(?:\$ )?(?:(?:\./)?dmebench (?:sweep|advise|validate|report)|go (?:test|build|run))\b`)
	// exact are the commands whose output every machine prints alike.
	exact = regexp.MustCompile(`^(?:\./)?dmebench (?:check|trace|list|schema|help|completion|init)\b|` +
		`--dry-run|--transport sim\b|^echo |^cat `)
	unmarked = regexp.MustCompile(`(?m)^(?:\$ )?(?:\./)?dmebench [a-z]+`)
)

// installed reports whether a program is there that some commands of a page need.
func installed(t *testing.T, page, program string) bool {
	_, err := exec.LookPath(program)
	if err != nil {
		t.Logf("%s: commands that need %s are not run: %v", page, program, err)
	}
	return err == nil
}

// follow does what a page says. It returns what is wrong, and the page as it
// should be where that can be told.
func follow(t *testing.T, page, text, programs string) (faults []string, fresh string) {
	blame := func(line int, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s:%d: ", page, line)+fmt.Sprintf(format, args...))
	}
	blocks, err := fences(text)
	if err != nil {
		return []string{page + ": " + err.Error()}, text
	}
	for _, fault := range misquoted(text) {
		faults = append(faults, page+": "+fault)
	}
	var s *session
	outputs := make(map[int][]string) // as they should be, by their first line
	for i := range blocks {
		f := &blocks[i]
		all, err := commands(f)
		if err != nil {
			return append(faults, page+": "+err.Error()), text
		}
		if all == nil && f.file == "" {
			if unmarked.MatchString(strings.Join(f.lines, "\n")) {
				blame(f.line, "a block of commands begins with ```sh, or with ```console where it shows what they print")
			}
			continue
		}
		if f.notRun != "" || f.full != "" && !testkit.Full() || f.needs != "" && !installed(t, page, f.needs) {
			for _, c := range all {
				for _, fault := range unknownFlags(programs, c.text) {
					blame(c.line, "%s", fault)
				}
			}
			continue
		}
		if s == nil {
			s = begin(t, programs)
		}
		if f.file != "" {
			if err := s.write(f.file, f.lines); err != nil {
				t.Fatal(err)
			}
		}
		for k, c := range all {
			got, code, err := s.do(c.text)
			if err != nil {
				t.Fatalf("%s:%d: %s: %v", page, c.line, c.text, err)
			}
			if asked := k+1 < len(all) && all[k+1].text == "echo $?"; code != 0 && !asked {
				blame(c.line, "%s: exit code %d, which the page does not say; it printed:\n%s", c.text, code, strings.Join(got, "\n"))
				return faults, text // what follows builds on it
			}
			see := form
			if f.exact || exact.MatchString(c.text) {
				see = exactly
			}
			if !c.shown || alike(withoutWarnings(c.want), withoutWarnings(got), see) {
				continue
			}
			if should, ok := refreshed(c.want, got); ok {
				outputs[c.start] = should
			}
			blame(c.line, "%s: the page shows other words, or another number of lines. Shown:\n%s\nPrinted:\n%s",
				c.text, strings.Join(c.want, "\n"), strings.Join(got, "\n"))
		}
	}
	if s != nil {
		if dirt := s.dirt(t); len(dirt) > 0 {
			blame(1, "its commands change a clone in files that git does not ignore: %s", strings.Join(dirt, " "))
		}
	}
	for _, m := range drawn.FindAllStringSubmatch(text, -1) {
		testkit.FileMustBe(t, filepath.Join("images", "guide", m[1]), read(t, filepath.Join(s.dir, m[1])))
	}
	return faults, withOutputs(text, blocks, outputs)
}

// drawn are the pictures of the guide: its commands draw them under these names.
var drawn = regexp.MustCompile(`\]\(\.\./images/guide/([^)]+)\)`)

// withOutputs is a page with other outputs of some of its commands.
func withOutputs(page string, blocks []fence, outputs map[int][]string) string {
	lines := strings.Split(page, "\n")
	for _, f := range slices.Backward(blocks) {
		all, _ := commands(&f)
		for _, c := range slices.Backward(all) {
			if output, ok := outputs[c.start]; ok {
				lines = slices.Replace(lines, c.start, c.start+len(c.want), output...)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Pages of which something is wrong are noticed, and mended where that can be done.
func testFaultyPages(t *testing.T, programs string) {
	for _, c := range []struct{ page, fault, mended string }{
		{"```console\n$ echo a\na\n```", "", ""},
		{"```console\n$ echo a\nb\n\n$ printf 'c 1'\nc 2\n```", "other words", "```console\n$ echo a\na\n\n$ printf 'c 1'\nc 2\n```"},
		{"```console\n$ echo a\n```", "other words", "```console\n$ echo a\na\n```"},
		{"```console\n$ true\na\n```", "other words", "```console\n$ true\n```"},
		{"<!-- exact -->\n```console\n$ printf 'c 1'\nc 2\n```", "other words", "<!-- exact -->\n```console\n$ printf 'c 1'\nc 1\n```"},
		{"```console\n$ printf 'a 1\\nb\\nc'\na 2\n…\nd\n```", "other words", ""},
		{"```console\n$ x=1; cd docs\n$ echo $x $(basename $PWD)\n1 docs\n```", "", ""},
		{"```console\n$ cat <<END\n# a\nEND\n# a\n$ echo \\\nb\nb\n```", "", ""},
		{"```sh\nfalse\n```", "exit code 1", ""},
		{"```console\n$ (exit 3)\n$ echo $?\n3\n```", "", ""},
		{"```console\n$ (exit 3)\n$ echo $?\n4\n```", "other words", "```console\n$ (exit 3)\n$ echo $?\n3\n```"},
		{"```sh\ncat <x.txt >/dev/null\n```", "exit code 1", ""},
		{"<!-- file: x.txt -->\n```text\na\n```\n```console\n$ cat x.txt\na\n```", "", ""},
		{"```console\n$ echo 1 34\n1 34\n```\n<!-- as printed: 34; 1 34 -->\nIt was 34, and 1 34.", "", ""},
		{"```console\n$ echo 34000\n34000\n```\n<!-- as printed: 34000 -->\nIt was 34,000.", "", ""},
		{"```console\n$ echo 34\n34\n```\n<!-- as printed: 195 -->\nIt was 195.", `"195": in the paragraph true, printed above it false`, ""},
		{"```console\n$ echo 34\n34\n```\n<!-- as printed: 34 -->\nIt was 195.", `"34": in the paragraph false, printed above it true`, ""},
		{"<!-- as printed: 34 -->\nIt was 34.\n```console\n$ echo 34\n34\n```", "printed above it false", ""},
		{"```sh\ntouch x.txt docs/x.txt\n```", "files that git does not ignore: docs/x.txt", ""},
		{"```sh\necho a >>README.md && rm go.sum\n```", "files that git does not ignore: README.md go.sum", ""},
		{"```\n$ dmebench run -n 3\n```", "a block of commands begins with", ""},
		{"```\ndmebench run -n 3\n```", "a block of commands begins with", ""},
		{"<!-- not run: no reason -->\n```sh\ndmebench run --nodse 3\n```", "no flag --nodse", ""},
		{"<!-- not run -->\n```sh\nfalse\n```", "needs a reason", ""},
		{"<!-- todo -->\n", "no test understands", ""},
		{"<!-- exact -->\nwords\n", "right before a fenced block", ""},
		{"```sh\ntrue", "without an end", ""},
	} {
		faults, fresh := follow(t, "page", c.page, programs)
		if c.mended == "" {
			c.mended = c.page
		}
		if got := strings.Join(faults, "\n"); (got == "") != (c.fault == "") || !strings.Contains(got, c.fault) || fresh != c.mended {
			t.Errorf("%q\nhas the fault %q, want %q; it should be\n%q, want\n%q", c.page, got, c.fault, fresh, c.mended)
		}
	}
}

var (
	invoked = regexp.MustCompile(`(?:^|(?:^|\s)[^-\s]*[\s/])dmebench ([a-z]+)((?:\s[^|;&)]*)?)`)
	flags   = regexp.MustCompile(`(?:^|\s)(--?[a-z][a-z0-9-]*)`)
	quoted  = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// unknownFlags looks up the flags of a command that is not run.
func unknownFlags(programs, text string) (faults []string) {
	text, _, _ = strings.Cut(strings.ReplaceAll(text, "\\\n", " "), " # ")
	for _, m := range invoked.FindAllStringSubmatch(quoted.ReplaceAllString(text, "''"), -1) {
		help, err := exec.Command(filepath.Join(programs, "dmebench"), m[1], "--help").Output()
		if err != nil {
			faults = append(faults, "there is no command dmebench "+m[1])
			continue
		}
		known := strings.FieldsFunc(string(help), func(r rune) bool { return strings.ContainsRune(" ,\n[]=", r) })
		for _, f := range flags.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(known, f[1]) {
				faults = append(faults, fmt.Sprintf("dmebench %s has no flag %s", m[1], f[1]))
			}
		}
	}
	return faults
}

func testUnknownFlags(t *testing.T, programs string) {
	for text, faults := range map[string]int{
		"dmebench run --algorithm x -n 3 --cs 0":             0,
		"go run . && ./dmebench report --out 'x --nonsense'": 0,
		"ls --nonsense":               0,
		"dmebench run --algorithms x": 1,
		"on 1 ./dmebench run -a x \\\n  --nonsense --nonsense2": 2,
		"dmebench nonsense | dmebench list":                     1,
	} {
		if found := unknownFlags(programs, text); len(found) != faults {
			t.Errorf("%s: %q", text, found)
		}
	}
}
