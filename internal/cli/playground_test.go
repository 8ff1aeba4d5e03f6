package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/internal/testkit"
)

// The scenario of a file that the command line names is opened.
func TestPlaygroundOpensScenarios(t *testing.T) {
	testkit.TakesLong(t)
	dir := t.TempDir()
	file, page := filepath.Join(dir, "play.txt"), filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte("# My own play\nalgorithm raymond\nnodes 3\nrequest 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args  []string
		title string
	}{
		{[]string{file}, `"# My own play`},
		{[]string{"--file", file}, `"# My own play`},
		{nil, "</script>"},
	} {
		code, _, stderr := dmebench(append(append([]string{"playground"}, x.args...), "--out", page)...)
		html, err := os.ReadFile(page)
		if code != 0 || err != nil || !strings.Contains(string(html), `<script type="text/plain" id="opened">`+x.title) {
			t.Errorf("playground %s: %d: %s %v; it does not open %s", x.args, code, stderr, err, x.title)
		}
	}
}
