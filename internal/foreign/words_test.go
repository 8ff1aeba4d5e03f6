package foreign

import (
	"slices"
	"testing"
)

func TestWordsAreThoseOfAShell(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"./node.py", []string{"./node.py"}},
		{"  python3 -u\t./node.py  ", []string{"python3", "-u", "./node.py"}},
		{`node 'my node.js' --name "a b"`, []string{"node", "my node.js", "--name", "a b"}},
		{`a\ b c\'d`, []string{"a b", "c'd"}},
		{`x "say \"hi\" \n" '\n'`, []string{"x", `say "hi" \n`, `\n`}},
		{`x '' ""y`, []string{"x", "", "y"}},
		{`x a'b'"c"d`, []string{"x", "abcd"}},
		{"x $HOME ~ *.py | y", []string{"x", "$HOME", "~", "*.py", "|", "y"}},
	} {
		if got, err := Split(c.command); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.command, got, err, c.want)
		}
	}
	for _, command := range []string{"", "  ", "''", "a 'b", `a "b`, `a \`, "a\x00b"} {
		if got, err := Split(command); err == nil {
			t.Errorf("%q: %q", command, got)
		}
	}
}

func TestNodesAreCalledAfterTheirProgram(t *testing.T) {
	for command, want := range map[string]string{
		"./node.py": "exec:node.py", "/usr/bin/python3.11 -u nodes/ra.py --slow": "exec:ra.py", "node sk.js": "exec:sk.js",
		"python3 -m": "exec:python3", "./a 'b c'": "exec:a", "env python3 x.py": "exec:x.py", "'": "exec", "": "exec",
	} {
		if got := Named(command); got != want {
			t.Errorf("%q is called %q, want %q", command, got, want)
		}
	}
	for name, want := range map[string]bool{"exec": true, "exec:x": true, "execute": false, "": false, "ricart-agrawala": false} {
		if Is(name) != want {
			t.Errorf("Is(%q) = %v", name, !want)
		}
	}
}
