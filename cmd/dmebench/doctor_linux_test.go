package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dmebench/internal/cli"
	"dmebench/internal/testbed/doctor"
	"dmebench/internal/testkit"
)

// doctorReport is what this test reads of 'doctor --json'.
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
	testkit.TakesLong(t)
	t.Parallel()
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
	if code != cli.Held || r.Problems != 0 || len(r.Hosts) != 3 || !r.Hosts[0].Coordinator || len(r.Paths) != 2 ||
		r.Hosts[1].Name != "east" || len(r.Hosts[1].Findings) < 10 {
		t.Errorf("exit code %d: %+v", code, r)
	}

	text := start(t, t.TempDir(), "doctor", "--agents", url, "-n", "4", "--expect-agents", "2")
	if code := text.wait(longest); code != cli.Held {
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
	if code := refused.wait(longest); code != cli.Unavailable || !strings.Contains(refused.stderr.String(), "two are named west") {
		t.Errorf("two of one name: exit code %d, %s", code, &refused.stderr)
	}
}

// Four hosts with addresses of their own, a broker on the first, an agent on each: all
// is well, and the clock that is 50 ms ahead is found to be. Then a firewall drops
// datagrams between two of them.
func TestDoctorOfHosts(t *testing.T) {
	testkit.TakesLong(t)
	const ahead = 50 * time.Millisecond
	bed := testkit.NewTestbed(t, 4, testkit.ClockAhead(3, ahead))
	dir := t.TempDir()
	at := bed.Host(1).Address + ":4222"
	broker := startBy(t, bed.Host(1).Command, t.TempDir(), "broker", "--listen", at, "--dir", dir)
	creds := filepath.Join(dir, "creds")
	for deadline := time.Now().Add(longest); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(creds); err == nil {
			break
		}
		if time.Now().After(deadline) || broker.cmd.ProcessState != nil {
			t.Fatalf("there is no %s: %s", creds, &broker.stderr)
		}
	}
	let := []string{"--creds", creds}
	for _, h := range bed.Hosts {
		startBy(t, h.Command, t.TempDir(), append([]string{"agent", "--nats-url", "tls://" + at}, let...)...)
	}
	examine := func(want int) (r doctor.Report) {
		t.Helper()
		args := []string{"doctor", "--agents", "tls://" + at, "--expect-agents", "4", "-n", "8", "--json"}
		p := startBy(t, bed.Host(1).Command, t.TempDir(), append(args, let...)...)
		code := p.wait(longest)
		if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil {
			t.Fatalf("%v\n%s%s", err, p.stdout.Bytes(), p.stderr.Bytes())
		}
		if code != want {
			t.Errorf("exit code %d, want %d: %+v", code, want, r)
		}
		return r
	}

	r := examine(cli.Held)
	if len(r.Hosts) != 5 || len(r.Paths) != 12 {
		t.Errorf("%d hosts, %d paths", len(r.Hosts), len(r.Paths))
	}
	for _, p := range r.Paths {
		want := int64(0)
		if p.To == "h3" {
			want += int64(ahead)
		}
		if p.From == "h3" {
			want -= int64(ahead)
		}
		if p.OffsetNS == nil || max(*p.OffsetNS-want, want-*p.OffsetNS) > *p.BoundNS || *p.BoundNS > int64(ahead)/2 {
			t.Errorf("%s to %s: %+v, want %d", p.From, p.To, p, want)
		}
	}

	// The rule has to come before that for local addresses.
	firewall := bed.Host(2).Command("sh", "-c", "ip rule add pref 10 lookup local && ip rule add pref 5 ipproto udp from "+
		bed.Host(4).Address+" blackhole && ip rule del pref 0")
	if out, err := firewall.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := slices.DeleteFunc(examine(cli.Unavailable).Between, func(f doctor.Finding) bool { return f.Level != doctor.Problem })
	if len(found) != 2 || found[0].From != "h2" || found[0].To != "h4" || found[1].From != "h4" || found[1].To != "h2" ||
		found[0].Check != "reach-udp" || !strings.Contains(found[0].Do, "a firewall drops udp") {
		t.Errorf("a firewall: %+v", found)
	}
}

// Where nobody is there, that is the finding.
func TestDoctorWithoutAgents(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "doctor", "--agents", broker(t, -1).ClientURL(), "-n", "4")
	if code := p.wait(longest); code != cli.Unavailable || !strings.Contains(p.stdout.String(), "no agent is at nats://127.0.0.1") {
		t.Errorf("exit code %d\n%s%s", code, &p.stdout, &p.stderr)
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"--agents", "nats://127.0.0.1:1"}, "127.0.0.1:1", cli.Unavailable},
		{[]string{"--agents", "nats://10.0.0.1:4222"}, "tls://10.0.0.1:4222", cli.Usage},
		{[]string{"--agents", "nats://127.0.0.1:1", "--listen", "127.0.0.1:0"}, "agent --address", cli.Usage},
		{[]string{"--agents", "nats://127.0.0.1:1", "--questions", "1"}, "--questions 1", cli.Usage},
		{[]string{"--agents", "nats://127.0.0.1:1", "--expect-agents", "0"}, "--expect-agents 0", cli.Usage},
		{[]string{"--expect-agents", "2"}, "--expect-agents is for --agents", cli.Usage},
		{[]string{"--creds", "creds"}, "--creds is for --agents", cli.Usage},
	} {
		p := start(t, t.TempDir(), append([]string{"doctor"}, c.args...)...)
		if code := p.wait(longest); code != c.code || !strings.Contains(p.stderr.String(), c.want) || p.stdout.Len() > 0 {
			t.Errorf("%v: exit code %d\n%s%s", c.args, code, &p.stdout, &p.stderr)
		}
	}
}
