package workload

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
)

func traced(text string, nodes, requests int) (*Plan, error) {
	return New(Spec{
		Name: "trace", Requests: requests, CS: Distribution{Mean: time.Microsecond},
		Options:  dme.Options{"file": "day.csv"},
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	}, nodes, 1)
}

func TestTrace(t *testing.T) {
	const text = "# seconds, node, seconds in the CS\n\n0,2\n0.57, 1 ,0.25\r\n0.57,2,0.001\n3,1\n"
	p, err := traced(text, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[dme.NodeID][]time.Duration{
		1: {570 * time.Millisecond, 3 * time.Second}, 2: {0, 570 * time.Millisecond}, 3: nil,
	}
	for id, times := range want {
		if got := all(p.Client(id)); !slices.Equal(got, times) {
			t.Errorf("node %d asks at %v, want %v", id, got, times)
		}
		if p.Share(id) != len(times) {
			t.Errorf("node %d has a share of %d", id, p.Share(id))
		}
	}
	if p.Requests() != 4 || p.Drive() != Open {
		t.Errorf("%d requests", p.Requests())
	}
	c := p.Client(1)
	for k, want := range []time.Duration{250 * time.Millisecond, time.Microsecond, time.Microsecond} {
		if got := c.Hold(); got != want {
			t.Errorf("critical section %d of node 1 lasts %v, want %v", k, got, want)
		}
	}
	if p, err = traced(text, 3, 2); err != nil || p.Requests() != 2 {
		t.Errorf("the first two only: %v requests, %v", p.Requests(), err)
	}
}

func TestTraceFaults(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", "day.csv: no request in it"},
		{"# nothing\n", "no request in it"},
		{"1\n", `day.csv:1: "1": want 'seconds,node'`},
		{"0,1\n1,1,1,1\n", "day.csv:2:"},
		{"x,1\n", `"x" is not a time in seconds`},
		{"-1,1\n", "is not a time in seconds"},
		{"NaN,1\n", "is not a time in seconds"},
		{"1e300,1\n", "is not a time in seconds"},
		{"0,0\n", `"0" is not one of the nodes 1 to 3`},
		{"0,4\n", `"4" is not one of the nodes 1 to 3`},
		{"0,one\n", `"one" is not one of the nodes`},
		{"0,1,x\n", `"x" is not a time in seconds`},
		{"0,1,9000000\n", "2500h0m0s in the critical section is longer than 2400h0m0s"},
		{"0,1\n\n2,1\n1,1\n", "day.csv:4: 1s is before the line above"},
	} {
		if _, err := traced(x.text, 3, 0); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: error %v, want one that says %q", x.text, err, x.want)
		}
	}
	if _, err := New(Spec{Name: "trace"}, 3, 1); err == nil || !strings.Contains(err.Error(), "with the option file") {
		t.Errorf("without a file: %v", err)
	}
	s := Spec{Name: "trace", Options: dme.Options{"file": "x"}}
	if _, err := New(s, 3, 1); err == nil || !strings.Contains(err.Error(), "cannot be read here") {
		t.Errorf("where files cannot be read: %v", err)
	}
	s.ReadFile = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	if _, err := New(s, 3, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add("0,1\n1,2,0.5\n")
	f.Add("#\n0.1,3,\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := traced(text, 3, 0)
		if err != nil {
			return
		}
		n := 0
		for id := dme.NodeID(1); id <= 3; id++ {
			times := all(p.Client(id))
			n += len(times)
			if !slices.IsSorted(times) || len(times) > 0 && times[0] < 0 {
				t.Fatalf("node %d asks at %v", id, times)
			}
		}
		if n != p.Requests() && n < 100000 {
			t.Fatalf("%d requests, told %d", n, p.Requests())
		}
	})
}
