package result_test

import (
	"slices"
	"testing"

	"dmebench/result"
)

func ranOn(status result.Status, hosts ...string) result.Run {
	r := &result.Result{Algorithm: "maekawa", Nodes: 7, Transport: "tcp", Workload: "saturate", Status: status}
	for _, name := range hosts {
		r.Hosts = append(r.Hosts, result.Host{Name: name})
	}
	return result.Run{Label: "maekawa", Result: r}
}

// Runs are repetitions of one another on the same hosts, in whatever order these
// are named, and on no others.
func TestHostsMakeACell(t *testing.T) {
	here, ab, ba, abc := ranOn(result.OK), ranOn(result.OK, "a", "b"), ranOn(result.OK, "b", "a"), ranOn(result.OK, "a", "b", "c")
	if ab.Result.Key() != ba.Result.Key() {
		t.Errorf("%s and %s differ", ab.Result.Key(), ba.Result.Key())
	}
	if got := ab.Result.Key().Get("hosts"); got != "a, b" {
		t.Errorf("hosts %q", got)
	}
	if ab.Result.Key() == abc.Result.Key() || ab.Result.Key().Place() == here.Result.Key().Place() {
		t.Error("runs on different hosts are one cell")
	}
	if here.Result.Key() != result.KeyOf(here.Result.Asked()) {
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
	runs := []result.Run{ranOn(result.Failed), ranOn(result.OK, "a", "b"), ranOn(result.OK, "c", "d"), ranOn(result.OK)}
	elsewhere := ranOn(result.Failed)
	elsewhere.Result.Nodes = 13
	runs = append(runs, elsewhere)
	keys := result.Keys(runs)
	var got []string
	for _, r := range runs {
		got = append(got, keys[r.Result].Get("hosts"))
	}
	if want := []string{"a, b", "a, b", "c, d", "", ""}; !slices.Equal(got, want) {
		t.Errorf("hosts %q, want %q", got, want)
	}
	if here := ranOn(result.Failed); result.Keys([]result.Run{here})[here.Result] != here.Result.Key() {
		t.Error("a failed run without any other has another cell")
	}
}

func TestMetricsOfHosts(t *testing.T) {
	names := func(runs ...result.Run) (all []string) {
		var results []*result.Result
		for _, r := range runs {
			results = append(results, r.Result)
		}
		for _, m := range result.MetricsOf(results) {
			all = append(all, m.Name)
		}
		return all
	}
	here, there := names(ranOn(result.OK)), names(ranOn(result.OK), ranOn(result.OK, "a"))
	if want := []string{result.SyncDelayBound, result.SyncDelayLoad}; !slices.Equal(there[len(here):], want) {
		t.Errorf("hosts add %q, want %q", there[len(here):], want)
	}
	if !slices.Equal(there[:len(here)], here) {
		t.Error("hosts change the order of what there is without them")
	}
}
