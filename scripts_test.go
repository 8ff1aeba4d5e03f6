package dmebench_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"dmebench/internal/testkit"
)

// clone copies the files of this repository that are not results to a folder of their
// own.
func clone(t *testing.T) string {
	t.Helper()
	if !testkit.Long() {
		t.Skip("it works on a copy of all files")
	}
	dir := t.TempDir()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	files := output(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.TrimSpace(files), "\n") {
		if strings.HasPrefix(name, "results/") || strings.HasPrefix(name, "docs/images/") {
			continue
		}
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			continue // deleted, and not committed yet
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// output is what a command that must end well has printed.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	b, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, b, stderr.String())
	}
	return string(b)
}

// refuse runs a script that must end with that code, and returns what it says.
func refuse(t *testing.T, code int, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	b, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		t.Fatalf("%s %v: %v, want code %d\n%s", name, args, err, code, b)
	}
	return string(b)
}

func TestRenameModule(t *testing.T) {
	const module = "example.org/you/dmebench"
	dir := clone(t)
	script := filepath.Join(dir, "scripts", "rename-module.sh")
	for _, bad := range []string{"dmebench", "you/dmebench", "example.org", "Example.org/x y", "https://example.org/x"} {
		if said := refuse(t, 64, dir, script, bad); !strings.Contains(said, "want HOST.DOMAIN/PATH") {
			t.Errorf("%s: %s", bad, said)
		}
	}
	if said := output(t, dir, script, module); !strings.Contains(said, "files name "+module+" in place of dmebench") {
		t.Error(said)
	}
	// Every import is of a package that there is, in the example's module too, and every
	// file is as gofmt wants it.
	example := filepath.Join(dir, "docs", "examples", "own-algorithm")
	for _, of := range []string{dir, example} {
		list := output(t, of, "go", "list", "-e", "-deps", "-test", "-f", "{{.ImportPath}}{{with .Error}} {{.}}{{end}}", "./...")
		for line := range strings.Lines(list) {
			if strings.Contains(line, " ") && !strings.Contains(line, " [") || strings.HasPrefix(line, "dmebench") {
				t.Errorf("%s: %s", of, line)
			}
		}
	}
	if found := output(t, dir, "gofmt", "-l", "internal", "cmd", "docs", "dmebench.go", "algorithms"); found != "" {
		t.Errorf("gofmt would change %s", found)
	}
	old := regexp.MustCompile(`(?m)(^|[\s(\x60"\[])dmebench/(dme|internal|cmd|algorithms|transport)\b[^-]`)
	for _, page := range []string{
		"docs/adding-an-algorithm.md", "docs/examples/own-algorithm/courier/courier.go", "algorithms/maekawa/algorithm.go",
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		if found := old.Find(text); found != nil {
			t.Errorf("%s has %q still", page, found)
		}
	}
	if said := output(t, dir, script, module); !strings.Contains(said, "already") {
		t.Error(said)
	}
	if !testkit.Full() {
		return
	}
	output(t, dir, "go", "build", "./...")
	output(t, dir, "go", "test", "./internal/testkit")
	output(t, example, "go", "test", "./...")
	said := output(t, example, "go", "run", ".", "check", "courier", "-n", "3", "--exhaustive")
	if !strings.Contains(said, "every property holds") {
		t.Error(said)
	}
}

func TestRelease(t *testing.T) {
	dir := clone(t)
	script := filepath.Join(dir, "scripts", "release.sh")
	for _, args := range [][]string{nil, {"1.0"}, {"v1.0"}, {"v1.0.0", "a", "b"}} {
		if said := refuse(t, 64, dir, script, args...); !strings.Contains(said, "with a version such as v1.2.0") {
			t.Errorf("%v: %s", args, said)
		}
	}
	output(t, dir, "git", "init", "-q")
	output(t, dir, "git", "add", "-A")
	output(t, dir, "git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "All")
	commit := strings.TrimSpace(output(t, dir, "git", "rev-parse", "HEAD"))
	readme := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(readme, append(text, "changed\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	if said := refuse(t, 69, dir, script, "v1.2.3"); !strings.Contains(said, "commit them") {
		t.Error(said)
	}
	if err := os.WriteFile(readme, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if !testkit.Full() {
		return
	}
	// A build within the clone notes the commit by itself.
	own := filepath.Join(t.TempDir(), "dmebench")
	output(t, dir, "go", "build", "-buildvcs=true", "-o", own, "./cmd/dmebench")
	if said := output(t, dir, own, "--version"); !strings.Contains(said, commit) || !strings.Contains(said, "clean") {
		t.Error(said)
	}
	t.Setenv("PLATFORMS", runtime.GOOS+"/"+runtime.GOARCH+" darwin/arm64")
	var sums []string
	for range 2 {
		out := t.TempDir()
		output(t, dir, script, "v1.2.3", out)
		b, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(b))
		said := output(t, out, filepath.Join(out, "dmebench-v1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH), "--version")
		if !strings.Contains(said, "dmebench v1.2.3\n") || !strings.Contains(said, commit) || !strings.Contains(said, "clean") {
			t.Error(said)
		}
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 2 {
		t.Errorf("two builds of one commit differ:\n%s%s", sums[0], sums[1])
	}
}
