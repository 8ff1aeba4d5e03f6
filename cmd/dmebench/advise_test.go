package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"testing"
	"time"

	"dmebench/internal/experiment/advise"
	"dmebench/runs"
)

// said runs the program and reads the JSON that it prints.
func said(t *testing.T, to any, args ...string) {
	t.Helper()
	path, err := exec.LookPath("dmebench") // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), to); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// What advise predicts is what runs over TCP show, where links take 5 ms, far longer than
// the machine takes for anything: messages for each entry within a tenth, who sends more
// than whom, and median waiting times within a third and two milliseconds.
func TestAdviceHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of several seconds")
	}
	load := []string{"--nodes", "3", "--total-rate", "50", "--cs", "1ms"}
	var advice advise.Advice
	said(t, &advice, append([]string{"advise", "--delay", "5ms", "--json", "--quiet"}, load...)...)
	contest := advice.Ranking.Contests[0]
	messages, median := contest.Column(runs.MessagesPerCS), contest.Column(runs.WaitingP50)
	type both struct{ predicted, measured float64 }
	sent := make(map[string]both)
	for _, e := range contest.Entrants {
		switch e.Label {
		case "ricart-agrawala", "lamport", "suzuki-kasami", "centralized":
		default:
			continue
		}
		var r runs.Result
		said(t, &r, append([]string{
			"run", "--algorithm", e.Label, "--workload", "poisson", "--requests", "250", "--set", "delay=5ms", "--json", "--quiet",
		}, load...)...)
		if r.Status != runs.OK {
			t.Fatalf("%s: %s: %s", e.Label, r.Status, r.Error)
		}
		x := both{*e.Cells[messages].Median, *r.Messages.PerCS}
		sent[e.Label] = x
		if math.Abs(x.measured-x.predicted) > x.predicted/10 {
			t.Errorf("%s: %.4g messages for each entry, predicted %.4g", e.Label, x.measured, x.predicted)
		}
		predicted, measured := time.Duration(*e.Cells[median].Median), time.Duration(r.WaitingTime.P50)
		if off := (measured - predicted).Abs(); off > predicted/3+2*time.Millisecond {
			t.Errorf("%s: waited %v, predicted %v", e.Label, measured, predicted)
		}
		t.Logf("%s: %.4g messages, predicted %.4g; waited %v, predicted %v", e.Label, x.measured, x.predicted, measured, predicted)
	}
	if len(sent) != 4 {
		t.Fatalf("predicted: %v", sent)
	}
	for a, x := range sent {
		for b, y := range sent {
			if x.predicted > 1.3*y.predicted && x.measured <= y.measured {
				t.Errorf("%s was to send more than %s, and sent %.4g and %.4g", a, b, x.measured, y.measured)
			}
		}
	}
}
