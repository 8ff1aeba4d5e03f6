package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms/catalog"
)

// TestMain lets the shells of the tests call this test binary as the program.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "dmebench" {
		os.Exit(Run(os.Args, os.Stdin, os.Stdout, os.Stderr, catalog.All(), fstest.MapFS{}))
	}
	os.Exit(m.Run())
}

// completed is what the program offers a shell for a command line.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Run(append([]string{"dmebench", completeCommand}, args...), nil, &stdout, &stderr, catalog.All(), fstest.MapFS{}); code != 0 {
		t.Errorf("%q: %d: %s", args, code, stderr.String())
	}
	var words []string
	for line := range strings.Lines(stdout.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	return words
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"va":                                    "validate",
		"help va":                               "validate",
		"sweep --ba":                            "",
		"sweep --rep":                           "--repetitions",
		"run mae":                               "maekawa maekawa-as-published maekawa-textbook-as-published",
		"run MAE":                               "maekawa maekawa-as-published maekawa-textbook-as-published",
		"run maekawa r":                         "",
		"run -a raym":                           "raymond raymond-robust",
		"run maekawa --transport ":              "tcp udp nats sim",
		"run maekawa --transport=u":             "--transport=udp",
		"run maekawa --workload h":              "hotspot",
		"run maekawa --set q":                   "quorum=",
		"run maekawa --set quorum=m":            "quorum=majority",
		"run --set quorum=m":                    "",
		"run raymond --transport sim --set d":   "delay= dup=",
		"run raymond --set tree=s":              "tree=star",
		"check raymond --set d":                 "",
		"check maekawa --fifo=":                 "--fifo=true --fifo=false",
		"sweep -a maekawa,raym":                 "maekawa,raymond maekawa,raymond-robust",
		"sweep --transport tcp,s":               "tcp,sim",
		"sweep -f ":                             ":files",
		"sweep ":                                ":files",
		"report --formats svg,p":                "svg,png svg,pdf",
		"export x --format h":                   "hgrm hlog",
		"trace --format h":                      "",
		"compare x --col alg":                   "algorithm",
		"list quorums --quorum m":               "majority",
		"list raymond-":                         "raymond-robust raymond-robust/example",
		"list q":                                "quorums",
		"completion ":                           "bash zsh fish",
		"validate --claim raymond-robust/rec":   "",
		"run maekawa --resource ":               "nats",
		"frobnicate ":                           "",
		"run maekawa -- --transport ":           "",
		"init ":                                 ":files",
		"doctor ":                               "",
		"run --algorithm maekawa --cs 5ms --ud": "--udp-layer",
	} {
		got := completed(t, append([]string{"fish"}, strings.Split(line, " ")...)...)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if got := completed(t, "fish", ""); !slices.Contains(got, "run") || !slices.Contains(got, "help") || len(got) < 15 {
		t.Errorf("commands: %q", got)
	}
	if got := completed(t, "fish"); !slices.Contains(got, "run") {
		t.Errorf("nothing written: %q", got)
	}
	if got := completed(t, "bash", `dmebench run "mae`, "17"); len(got) != 3 {
		t.Errorf("within quotes: %q", got)
	}
	if got := completed(t, "bash", "dmebench run maekawa --transport=tcp --nodes 3", "34"); !slices.Equal(got, []string{"tcp"}) {
		t.Errorf("in the middle of a line: %q", got)
	}
}

// shell returns a folder with this test binary as the program, first on the PATH, or
// skips the test where there is no such shell.
func shell(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("there is no %s here", name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "dmebench")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", dir)
	t.Chdir(dir)
	for _, file := range []string{"first.yaml", "second one.yaml"} {
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// says runs a script by a shell and returns the lines that it prints.
func says(t *testing.T, script string, shell ...string) []string {
	t.Helper()
	c := exec.Command(shell[0], append(shell[1:], script)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %s", err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func TestCompletionInBash(t *testing.T) {
	shell(t, "bash")
	for line, want := range map[string][]string{
		"run raym":                      {"raymond", "raymond-robust"},
		"run maekawa --transport=u":     {"udp"},
		"run maekawa --set quorum=ma":   {"majority"},
		"run maekawa --set quor":        {"quorum="},
		"run --transport ":              {"tcp", "udp", "nats", "sim"},
		"sweep f":                       {"first.yaml"},
		"sweep s":                       {"second one.yaml"},
		"check raymond --set tree=bina": {"binary"},
	} {
		// What bash hands to the function: words are divided at = and :, too.
		script := `source <(dmebench completion bash)
COMP_LINE="dmebench ` + line + `"; COMP_POINT=${#COMP_LINE}
IFS=$'\n' read -d '' -r -a COMP_WORDS < <(printf '%s' "$COMP_LINE" | sed -e 's/=/ = /g' | tr -s ' ' '\n')
case "$COMP_LINE" in *' '|*=) COMP_WORDS+=("") ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
complete -p dmebench >/dev/null || exit 1
_dmebench
printf '%s\n' "${COMPREPLY[@]}"`
		if got := says(t, script, "bash", "--noprofile", "--norc", "-c"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestCompletionInFish(t *testing.T) {
	shell(t, "fish")
	for line, want := range map[string][]string{
		"run raym":                    {"raymond", "raymond-robust"},
		"run maekawa --set quorum=ma": {"quorum=majority"},
		"run maekawa --transport=u":   {"--transport=udp"},
		"sweep -a maekawa,raymond-":   {"maekawa,raymond-robust"},
		"sweep f":                     {"first.yaml"},
	} {
		script := "dmebench completion fish | source\ncomplete -C 'dmebench " + line + "'"
		var got []string
		for _, x := range says(t, script, "fish", "--no-config", "-c") {
			word, _, _ := strings.Cut(x, "\t")
			got = append(got, word)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// zsh completes on a terminal only: what its completion system is handed is looked at
// in its place.
func TestCompletionInZsh(t *testing.T) {
	shell(t, "zsh")
	for line, want := range map[string][]string{
		"run raym":             {"found raymond:Raymond", "found raymond-robust:Raymond, with recovery"},
		"run maekawa --set qu": {"open quorum=:how the request sets are made"},
		"sweep f":              {"files"},
	} {
		script := `compdef() { [[ $1 == _dmebench && $2 == dmebench ]] || exit 1 }
_files() { print files }
_describe() { for x in "${(@P)4}"; do print -r -- "$4 $x"; done }
source <(dmebench completion zsh)
words=(dmebench ` + line + `); CURRENT=${#words}
_dmebench`
		if got := says(t, script, "zsh", "-f", "-c"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
