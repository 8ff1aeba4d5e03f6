package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client keeps no connection, so that none is left behind.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func serve(t *testing.T, b *Board, build Maker) *Server {
	t.Helper()
	s, err := Serve("127.0.0.1:0", b, build)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestPageIsThatOfTheLatestRefresh(t *testing.T) {
	var fault error
	s := serve(t, boardOf(2), func(version int) ([]byte, error) { return []byte("page " + strconv.Itoa(version)), fault })
	defer s.Close()
	if status, text := get(t, s.URL); status != http.StatusServiceUnavailable {
		t.Errorf("%d, %q before there is a page", status, text)
	}
	first := s.Refresh(false)
	s.took = time.Hour
	early := s.Refresh(false)
	if _, text := get(t, s.URL); text != "page 1" || !first || early {
		t.Errorf("%q, made %v, made too early %v", text, first, early)
	}
	if made := s.Refresh(true); !made {
		t.Error("not made when it has to be")
	}
	if _, text := get(t, s.URL); text != "page 2" {
		t.Errorf("%q", text)
	}
	fault = errors.New("no room")
	s.Refresh(true)
	if _, text := get(t, s.URL); text != "page 2" {
		t.Errorf("%q after one could not be made", text)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		request, err := http.NewRequestWithContext(t.Context(), method, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := client.Do(request); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %v, %v", method, r, err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "elsewhere.example:80"
	if r, err := client.Do(request); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("under another name: %v, %v", r, err)
	}
	if status, _ := get(t, s.URL+"runs.jsonl"); status != http.StatusNotFound {
		t.Errorf("%d for a file", status)
	}
}

// events reads the stream and hands over what each event says.
func events(t *testing.T, s *Server) func() (version int, status Status, open bool) {
	t.Helper()
	r, err := client.Get(s.URL + strings.TrimPrefix(Events, "/"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	in := bufio.NewScanner(r.Body)
	return func() (int, Status, bool) {
		for in.Scan() {
			text, found := strings.CutPrefix(in.Text(), "data: ")
			if !found {
				continue
			}
			var event struct {
				Version int
				Status
			}
			if err := json.Unmarshal([]byte(text), &event); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			return event.Version, event.Status, true
		}
		return 0, Status{}, false
	}
}

// Whoever looks is told where the sweep stands, when there is a newer page, and how it
// ended; then the stream ends.
func TestEvents(t *testing.T) {
	b := boardOf(2)
	s := serve(t, b, func(int) ([]byte, error) { return []byte("page"), nil })
	next := events(t, s)
	version, status, _ := next()
	if version != 0 || status.Planned != 8 || status.Done != 1 || status.Run == nil || status.Run.P99 != 2e6 || status.Run.Rate != 4100 {
		t.Errorf("version %d of %+v", version, status)
	}
	b.Finish(&runs.Result{Status: runs.Failed}, "2/8 failed", 0)
	for status.Done != 2 {
		if _, status, _ = next(); status.Done > 2 {
			t.Fatalf("%+v", status)
		}
	}
	if len(status.Bad) != 1 || status.Counts[runs.Failed] != 1 || status.Run != nil {
		t.Errorf("%+v", status)
	}
	s.Refresh(true)
	for version != 1 {
		if version, status, _ = next(); version > 1 {
			t.Fatalf("version %d", version)
		}
	}
	b.End("2 runs: 1 ok, 1 failed")
	s.Close()
	open := true
	for last := status; open; last = status {
		if _, status, open = next(); !open && last.Ended != "2 runs: 1 ok, 1 failed" {
			t.Errorf("the last event says %+v", last)
		}
	}
}

// Whoever follows a board sees what changed just before, without waiting for a change.
func TestFollowersMissNothing(t *testing.T) {
	b := boardOf(2)
	b.End("2 runs: 2 ok")
	b.follow(t.Context(), time.Hour, time.Hour, func() bool { return false })
}

func TestMetrics(t *testing.T) {
	s := serve(t, boardOf(2), nil)
	defer s.Close()
	_, text := get(t, s.URL+"metrics")
	for _, want := range []string{
		"dmebench_sweep_runs_planned 8\n", `dmebench_sweep_runs{status="ok"} 1`, "dmebench_sweep_left_seconds 90\n",
		`dmebench_run_info{run="algorithm-2, 7 nodes"} 1`, "dmebench_run_entries 120\n", "dmebench_run_entries_per_second 4100\n",
		`dmebench_run_waiting_seconds{quantile="0.99"} 0.002`,
		"# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ", "\ngo_goroutines ", "\ngo_memstats_sys_bytes ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
}

func TestPortInUse(t *testing.T) {
	s := serve(t, NewBoard(), nil)
	defer s.Close()
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/")
	if _, err := Serve(address, NewBoard(), nil); err == nil || !strings.Contains(err.Error(), "another program listens at this port") {
		t.Errorf("error %v", err)
	}
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "0.0.0.0:1": false, ":1": false, "10.0.0.1:1": false, "host:1": false,
	} {
		if OnLoopback(address) != want {
			t.Errorf("%s: not %v", address, want)
		}
	}
}
