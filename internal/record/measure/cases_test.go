package measure

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record"
	"dmebench/internal/testkit"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// What is measured of small runs, most of which a pencil can check. The first case of each
// file of testdata is shown whole, and of each other what differs from it: "-" is before
// what is gone. The lines of a case are added to those of the first one:
//
//	spec {…}                                   of the job, in JSON
//	entry NODE REQUESTED ENTERED EXITED K=V…   instead of the first case's entries
//	open N PERIOD LATE                         entries of an open load instead
//	turns N NODES                              entries of nodes in turn instead
//	count N                                    messages that each entry costs, in the counters
//	hosts LENGTH PERIOD LONGEST OFFSET,PPM…    hosts that make exchanges, see onHosts; with "direct" also among one another
//	exchange HOST SENT RECEIVED ANSWERED …     all that is known of that host's clock
//	link FROM TO SENT LOST SENT RECEIVED …     datagrams between hosts, and the exchanges that they made
//	strike AT ENDED NODES FAULT                a fault that was carried out
//	PATH VALUE                                 anything else of the observation, in JSON
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var first, base []string
			testkit.Cases(t, file, func(t *testing.T, input []string) string {
				o := observed(t, slices.Concat(first, input), len(first))
				lines := resultLines(t, Result(o))
				if first == nil {
					first, base = input, lines
					return strings.Join(lines, "\n")
				}
				return strings.Join(differences(base, lines), "\n")
			})
		})
	}
}

// resultLines are all that a result says but its course.
func resultLines(t *testing.T, r *runs.Result) []string {
	encode(t, r)
	for _, h := range []*string{&r.Histograms.Response, &r.Histograms.Waiting, &r.Histograms.SyncDelay} {
		*h = summary(t, *h)
	}
	r.Spec, r.Series = runs.Spec{}, nil
	return slices.DeleteFunc(testkit.Lines(t, r, 9), func(line string) bool { return strings.HasPrefix(line, "spec.") })
}

// summary says in words what a histogram holds; how it is compressed is the library's.
func summary(t *testing.T, text string) string {
	if text == "" {
		return ""
	}
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d from %d to %d, median %d", h.TotalCount(), h.Min(), h.Max(), h.ValueAtQuantile(50))
}

// differences are the lines that only the second has, and the paths that only the first has.
func differences(a, b []string) (all []string) {
	path := func(line string) string { return strings.Fields(line)[0] }
	for _, line := range a {
		if !slices.ContainsFunc(b, func(other string) bool { return path(other) == path(line) }) {
			all = append(all, "- "+path(line))
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			all = append(all, line)
		}
	}
	return all
}

// observed makes the observation of a case, whose own lines begin at own.
func observed(t *testing.T, input []string, own int) Observation {
	spec := runs.Spec{}
	o := Observation{Status: runs.OK}
	var hosts []string
	messages, replaced := uint64(4), false
	var rest []string
	for i, line := range input {
		words := strings.Fields(line)
		switch words[0] {
		case "spec":
			testkit.Set(t, &spec, "", strings.TrimPrefix(line, "spec "))
		case "entry", "open", "turns":
			if i >= own && !replaced {
				o.Entries, replaced = nil, true
			}
			o.Entries = append(o.Entries, entriesOf(t, words)...)
		case "count":
			messages = uint64(integers(t, words[1:])[0])
		case "hosts":
			hosts = words[1:]
		default:
			rest = append(rest, line)
		}
	}
	o.Job = jobOf(t, spec)
	if hosts != nil {
		bed := hostsOf(t, hosts, spec.Nodes)
		o.Entries, o.Hosts, o.Links, o.Method = bed.local(o.Entries), bed.hosts, bed.links, "shared-page"
	}
	o.Nodes = counted(max(spec.Nodes, 9), o.Entries, messages)[:spec.Nodes]
	o.Traffic = trafficOf(o.Nodes)
	for _, line := range rest {
		adjust(t, &o, line)
	}
	for i := range o.Nodes {
		n := &o.Nodes[i]
		n.Sent, n.Handled = 0, 0
		for kind := range o.Traffic[i].Sent {
			n.Sent += o.Traffic[i].Sent[kind]
			n.Handled += o.Traffic[i].Handled[kind]
		}
	}
	return o
}

func entriesOf(t *testing.T, words []string) (all []record.Entry) {
	numbers := len(words)
	if i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "=") }); i > 0 {
		numbers = i
	}
	x := integers(t, words[1:numbers])
	switch {
	case len(x) == 0: // no entries
	case words[0] == "turns":
		return turns(int(x[0]), int(x[1]))
	case words[0] == "open":
		for k := range x[0] {
			at := k * x[1]
			e := entry(dme.NodeID(k%2+1), at+x[2], at+x[2]+10, at+x[2]+20)
			e.Intended = at
			all = append(all, e)
		}
	default:
		e := entry(dme.NodeID(x[0]), x[1], x[2], x[3])
		for _, word := range words[5:] {
			name, value, _ := strings.Cut(word, "=")
			testkit.Set(t, &e, name, value)
		}
		all = append(all, e)
	}
	return all
}

// integers reads numbers as people write them: 30e3, never.
func integers(t *testing.T, words []string) (all []int64) {
	for _, word := range words {
		var x float64
		if word == "never" {
			all = append(all, record.Never)
		} else if _, err := fmt.Sscan(word, &x); err != nil || x != math.Trunc(x) {
			t.Fatalf("%q: %v", word, err)
		} else {
			all = append(all, int64(x))
		}
	}
	return all
}

func exchanges(t *testing.T, words []string) (all []clock.Exchange) {
	for x := range slices.Chunk(integers(t, words), 4) {
		all = append(all, clock.Exchange{Sent: x[0], Received: x[1], Answered: x[2], Returned: x[3]})
	}
	return all
}

// adjust changes an observation as a line of a case says.
func adjust(t *testing.T, o *Observation, line string) {
	words := strings.Fields(line)
	switch words[0] {
	case "exchange":
		o.Hosts = slices.Clone(o.Hosts)
		r := new(clock.Relation)
		for _, e := range exchanges(t, words[2:]) {
			r.Add(e)
		}
		o.Hosts[integers(t, words[1:2])[0]].Relation = r
	case "link":
		x, l := integers(t, words[1:5]), new(clock.Link)
		l.Add(clock.Path{Sent: int(x[2]), Lost: int(x[3]), Exchanges: exchanges(t, words[5:])})
		for i, link := range o.Links {
			if link.From == int(x[0]) && link.To == int(x[1]) {
				o.Links[i].Link = l
				return
			}
		}
		o.Links = append(o.Links, Link{int(x[0]), int(x[1]), l})
	case "strike":
		x := integers(t, words[1:3])
		nodes, err := dme.ParseNodes(words[3])
		f, bad := fault.Parse(strings.Join(words[4:], " "))
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		o.Strikes = append(o.Strikes, Strike{Fault: f, Nodes: nodes, At: x[0], Ended: x[1]})
	default:
		path, value, _ := strings.Cut(line, " ")
		testkit.Set(t, o, path, strings.ReplaceAll(value, ":never", fmt.Sprint(":", record.Never)))
	}
}
