package main

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// shown is what a run writes on a terminal while it goes on.
var shown = regexp.MustCompile(`\d+ entries, .* left, .*CS/s, waited p50 .* p99 .*wait`)

// A run shows on a terminal where it stands. When it is interrupted it prints what was
// measured until then, and the line is gone.
func TestLiveAndInterrupted(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"run", "--algorithm", "lamport", "--nodes", "3", "--duration", "10m"},
		{"run", "--algorithm", "lamport", "--nodes", "3", "--duration", "2000h", "--transport", "sim"},
	} {
		cmd, master := atTerminal(t, 200, []string{"NO_COLOR=1"}, args...)
		from := bufio.NewReader(master)
		var before, after strings.Builder
		for !shown.MatchString(before.String()) {
			text, err := from.ReadString('\r')
			if before.WriteString(text); err != nil {
				t.Fatalf("%v: %v after %q", args, err, before.String())
			}
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(&after, from) // ends with an error when nobody has the terminal open
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%v: exit code %d", args, code)
		}
		text := after.String()
		at := strings.Index(text, "run ")
		if at < 0 {
			t.Fatalf("%v: no result is printed: %q", args, text)
		}
		if !strings.HasSuffix(text[:at], " \r") || shown.MatchString(text[at:]) {
			t.Errorf("%v: the line is not taken away: %q", args, text[:at])
		}
		for _, want := range []string{"failed, partial: interrupted", "throughput", "the run was interrupted after", "dmebench: interrupted"} {
			if !strings.Contains(text[at:], want) {
				t.Errorf("%v: it does not say %q: %s", args, want, text[at:])
			}
		}
	}
}

// With --quiet nothing is shown.
func TestQuietRunsShowNothing(t *testing.T) {
	t.Parallel()
	text := onTerminal(t, 200, []string{"NO_COLOR=1"}, "run", "--algorithm", "lamport", "--nodes", "3", "--duration", "500ms", "--quiet")
	if shown.MatchString(text) || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
		t.Errorf("%q", text)
	}
}
