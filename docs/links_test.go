package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// anchors are the names by which a page's headings are linked.
func anchors(page string) map[string]bool {
	names := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		var name strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ' || r == '-':
				name.WriteByte('-')
			case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127 && !strings.ContainsRune("–—…“”‘’√", r):
				name.WriteRune(r)
			}
		}
		names[name.String()] = true
	}
	return names
}

// Pages link to files, and to headings, that exist.
func TestLinks(t *testing.T) {
	pages := []string{"../README.md", "../CONTRIBUTING.md", "../results/README.md"}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(string(read(t, page)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(m[1], "#")
			file := filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			if name == "" {
				file = page
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
				continue
			}
			if anchor != "" && filepath.Ext(file) == ".md" && !anchors(string(read(t, file)))[anchor] {
				t.Errorf("%s links to %s, and there is no such heading", page, m[1])
			}
		}
	}
}

// Every page can be reached from the index.
func TestIndex(t *testing.T) {
	index := string(read(t, "README.md"))
	for _, pattern := range []string{"*.md", "guide/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if name := filepath.ToSlash(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
				t.Errorf("README.md does not link to %s", name)
			}
		}
	}
}

var said = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// What the program is said to say stands in its sources.
func TestTroubleshooting(t *testing.T) {
	var sources strings.Builder
	for _, dir := range []string{"../dme", "../internal", "../report", "../runs", "../workload", "../transport", "../docs/examples"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				sources.Write(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all := said.FindAllStringSubmatch(string(read(t, "troubleshooting.md")), -1)
	if len(all) < 15 {
		t.Errorf("only %d messages", len(all))
	}
	for _, m := range all {
		if !strings.Contains(sources.String(), m[1]) {
			t.Errorf("nothing in the program says %q", m[1])
		}
	}
}
