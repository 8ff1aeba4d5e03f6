package testkit

import (
	"os/exec"
	"strings"
	"testing"
)

// What people see of scripts/testbed/netns.sh.
func TestScript(t *testing.T) {
	h := NewTestbed(t, 2).Host(2)
	say := func(args ...string) (string, error) {
		out, err := exec.Command(string(h.script), append([]string{"--name", h.bed}, args...)...).CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct {
		args, want string
		fails      bool
	}{
		{args: "exec 2 hostname", want: "h2\n"},
		{args: "exec 2 false", fails: true},
		{args: "list", want: "HOST  ADDRESS      LINK  PROCESSES\nh1    10.77.0.1    up    0\nh2    10.77.0.2    up    0\n"},
		{args: "cut 2"},
		{args: "list", want: "HOST  ADDRESS      LINK  PROCESSES\nh1    10.77.0.1    up    0\nh2    10.77.0.2    cut   0\n"},
		{args: "mend 2"},
		{args: "exec 3 true", want: "there is no host 3; there are: 1 2", fails: true},
		{args: "cut eth0", want: "cut needs a host's number", fails: true},
		{args: "mend", want: "mend needs a host's number", fails: true},
		{args: "exec 1", want: "exec needs a command", fails: true},
		{args: "up 3", want: "is up already; remove it first", fails: true},
		{args: "up 0", want: "up needs how many hosts", fails: true},
		{args: "fly", want: "there is no command 'fly'", fails: true},
		{args: "down"},
		{args: "down"},
		{args: "list", want: "there are no hosts", fails: true},
		{args: "mend 1", want: "there are no hosts yet; make some", fails: true},
		{args: "up 1", want: "HOST  ADDRESS      LINK  PROCESSES\nh1    10.77.0.1    up    0\n"},
	} {
		out, err := say(strings.Fields(c.args)...)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
		if out != c.want && !(c.fails && strings.Contains(out, c.want)) {
			t.Errorf("%s says %q, want %q", c.args, out, c.want)
		}
	}
	if out, err := exec.Command(string(h.script), "--name", "a/b", "down").CombinedOutput(); err == nil {
		t.Errorf("a name with a slash is taken: %s", out)
	}
}
