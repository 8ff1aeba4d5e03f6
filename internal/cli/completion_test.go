package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms"
)

// TestMain lets the shell of a test call this test binary as the program.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "dmebench" {
		os.Exit(Run(os.Args, os.Stdin, os.Stdout, os.Stderr, algorithms.All(), nil, fstest.MapFS{}))
	}
	os.Exit(m.Run())
}

// What bash offers for command lines. The shell itself offers files where the program
// knows nothing.
func TestCompletion(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "dmebench")); err != nil {
		t.Fatal(err)
	}
	want := [][2]string{
		{"va", "validate"},
		{"help va", "validate"},
		{"run raym", "raymond raymond-robust"},
		{"run maekawa --transport ", "tcp udp nats sim"},
		{"run maekawa --transport=u", "udp"},
		{"run maekawa --workload h", "hotspot"},
		{
			"run maekawa --set quor",
			"quorum= quorum=grid quorum=hierarchical quorum=majority quorum=plane quorum=singleton quorum=tree quorum=weighted",
		},
		{"run maekawa --set quorum=ma", "majority"},
		{"check raymond --set tree=bina", "binary"},
		{"run --no", "--nodes --nodes-per-worker"},
		{"sweep f", ""},
		{"list q", "quorums"},
		{"list quorums --quorum m", "majority"},
		{"export x --format h", "hgrm hlog"},
		{"compare x --col alg", "algorithm"},
		{"completion ", "bash zsh fish"},
		{"frobnicate x", ""},
	}
	script := "source <(dmebench completion bash)\ncomplete -p dmebench >/dev/null || exit 1\n"
	for _, c := range want {
		script += `COMP_LINE='dmebench ` + c[0] + `'; COMP_POINT=${#COMP_LINE}; COMPREPLY=(); _dmebench; echo "${COMPREPLY[*]}"` + "\n"
	}
	c := exec.Command("bash", "--noprofile", "--norc", "-c", script)
	c.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, &stderr)
	}
	for i, got := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if got != want[i][1] {
			t.Errorf("%s: %q, want %q", want[i][0], got, want[i][1])
		}
	}
	for _, shell := range []string{"zsh", "fish"} {
		if code, script, _ := dmebench("completion", shell); code != 0 || !strings.Contains(script, completionFlag) {
			t.Errorf("%s: %d: %s", shell, code, script)
		}
	}
}
