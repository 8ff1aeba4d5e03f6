package runs_test

import (
	"slices"
	"testing"

	"dmebench/runs"
)

func ranOn(status runs.Status, hosts ...string) runs.Run {
	r := &runs.Result{Algorithm: "maekawa", Nodes: 7, Transport: "tcp", Workload: "saturate", Status: status}
	for _, name := range hosts {
		r.Hosts = append(r.Hosts, runs.Host{Name: name})
	}
	return runs.Run{Label: "maekawa", Result: r}
}

// Runs are repetitions of one another on the same hosts, in whatever order these
// are named, and on no others.
func TestHostsMakeACell(t *testing.T) {
	here, ab, ba, abc := ranOn(runs.OK), ranOn(runs.OK, "a", "b"), ranOn(runs.OK, "b", "a"), ranOn(runs.OK, "a", "b", "c")
	if ab.Result.Key() != ba.Result.Key() {
		t.Errorf("%s and %s differ", ab.Result.Key(), ba.Result.Key())
	}
	if got := ab.Result.Key().Get("hosts"); got != "a, b" {
		t.Errorf("hosts %q", got)
	}
	if ab.Result.Key() == abc.Result.Key() || ab.Result.Key().Place() == here.Result.Key().Place() {
		t.Error("runs on different hosts are one cell")
	}
	if here.Result.Key() != runs.KeyOf(here.Result.Asked()) {
		t.Errorf("a run on this host alone is of the cell %s", here.Result.Key())
	}
	// A sweep goes on with what is missing, wherever the rest was measured.
	if here.Key() != ab.Key() {
		t.Error("a run is another one because of its hosts")
	}
}

// A run that failed before it had hosts is not a cell of its own. One that did not
// fail was made on this host.
func TestFailedRunsBelongToTheirCell(t *testing.T) {
	list := []runs.Run{ranOn(runs.Failed), ranOn(runs.OK, "a", "b"), ranOn(runs.OK, "c", "d"), ranOn(runs.OK)}
	elsewhere := ranOn(runs.Failed)
	elsewhere.Result.Nodes = 13
	list = append(list, elsewhere)
	keys := runs.Keys(list)
	var got []string
	for _, r := range list {
		got = append(got, keys[r.Result].Get("hosts"))
	}
	if want := []string{"a, b", "a, b", "c, d", "", ""}; !slices.Equal(got, want) {
		t.Errorf("hosts %q, want %q", got, want)
	}
	if here := ranOn(runs.Failed); runs.Keys([]runs.Run{here})[here.Result] != here.Result.Key() {
		t.Error("a failed run without any other has another cell")
	}
}

func TestMetricsOfHosts(t *testing.T) {
	names := func(list ...runs.Run) (all []string) {
		var results []*runs.Result
		for _, r := range list {
			results = append(results, r.Result)
		}
		for _, m := range runs.MetricsOf(results) {
			all = append(all, m.Name)
		}
		return all
	}
	here, there := names(ranOn(runs.OK)), names(ranOn(runs.OK), ranOn(runs.OK, "a"))
	if want := []string{runs.SyncDelayBound, runs.SyncDelayLoad}; !slices.Equal(there[len(here):], want) {
		t.Errorf("hosts add %q, want %q", there[len(here):], want)
	}
	if !slices.Equal(there[:len(here)], here) {
		t.Error("hosts change the order of what there is without them")
	}
}
