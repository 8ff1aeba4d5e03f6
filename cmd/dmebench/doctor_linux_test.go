package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"dmebench/internal/exit"
)

// doctorReport is what this test reads of «doctor --json».
type doctorReport struct {
	Hosts []struct {
		Name        string
		Coordinator bool
		InUse       string `json:"in_use"`
		Findings    []struct{ Check, Level, Found, Do string }
	}
	Paths    []struct{ From, To string }
	Problems int
}

// Agents examine their hosts and each other, also while one of them has a run; one that
// should be there and is not is a problem.
func TestDoctorOfAgents(t *testing.T) {
	url := broker(t, -1).ClientURL()
	for _, name := range []string{"east", "west"} {
		start(t, t.TempDir(), "agent", "--nats-url", url, "--name", name)
	}
	examine := func(args ...string) (r doctorReport, code int) {
		t.Helper()
		p := start(t, t.TempDir(), append([]string{"doctor", "--agents", url, "-n", "4", "--json"}, args...)...)
		code = p.wait(longest)
		if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil {
			t.Fatalf("%v\n%s%s", err, p.stdout.Bytes(), p.stderr.Bytes())
		}
		return r, code
	}
	r, code := examine("--expect-agents", "2")
	if code != exit.Held || r.Problems != 0 || len(r.Hosts) != 3 || !r.Hosts[0].Coordinator || len(r.Paths) != 2 ||
		r.Hosts[1].Name != "east" || len(r.Hosts[1].Findings) < 10 {
		t.Errorf("exit code %d: %+v", code, r)
	}

	text := start(t, t.TempDir(), "doctor", "--agents", url, "-n", "4", "--expect-agents", "2")
	if code := text.wait(longest); code != exit.Held {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"east 127.0.0.1", "round trip by tcp, median", "reach-udp"} {
		if !strings.Contains(text.stdout.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &text.stdout)
		}
	}
	for line := range strings.Lines(text.stdout.String()) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("more than 80 columns: %s", line)
		}
	}

	start(t, t.TempDir(), "agent", "--nats-url", url, "--name", "west")
	refused := start(t, t.TempDir(), "doctor", "--agents", url, "--expect-agents", "3")
	if code := refused.wait(longest); code != exit.Unavailable || !strings.Contains(refused.stderr.String(), "two are named west") {
		t.Errorf("two of one name: exit code %d, %s", code, &refused.stderr)
	}
}

// Where nobody is there, that is the finding.
func TestDoctorWithoutAgents(t *testing.T) {
	p := start(t, t.TempDir(), "doctor", "--agents", broker(t, -1).ClientURL(), "-n", "4")
	if code := p.wait(longest); code != exit.Unavailable || !strings.Contains(p.stdout.String(), "no agent is at nats://127.0.0.1") {
		t.Errorf("exit code %d\n%s%s", code, &p.stdout, &p.stderr)
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"--agents", "nats://127.0.0.1:1"}, "127.0.0.1:1", exit.Unavailable},
		{[]string{"--agents", "nats://10.0.0.1:4222"}, "tls://10.0.0.1:4222", exit.Usage},
		{[]string{"--agents", "nats://127.0.0.1:1", "--listen", "127.0.0.1:0"}, "agent --address", exit.Usage},
		{[]string{"--agents", "nats://127.0.0.1:1", "--questions", "1"}, "--questions 1", exit.Usage},
		{[]string{"--agents", "nats://127.0.0.1:1", "--expect-agents", "0"}, "--expect-agents 0", exit.Usage},
		{[]string{"--expect-agents", "2"}, "--expect-agents is for --agents", exit.Usage},
		{[]string{"--nats-ca", "ca.pem"}, "--nats-ca is for --agents", exit.Usage},
	} {
		p := start(t, t.TempDir(), append([]string{"doctor"}, c.args...)...)
		if code := p.wait(longest); code != c.code || !strings.Contains(p.stderr.String(), c.want) || p.stdout.Len() > 0 {
			t.Errorf("%v: exit code %d\n%s%s", c.args, code, &p.stdout, &p.stderr)
		}
	}
}
