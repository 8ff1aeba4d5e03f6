package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/runs"
)

// DefaultAddress is where pages are served by default: on this host alone.
const DefaultAddress = "127.0.0.1:8642"

// Events is the path of the events of a page, for its data.
const Events = "/events"

// Maker makes a page. The page says in its address for [Events] which version it is, as a
// query.
type Maker func(version int) (html []byte, err error)

// Server serves the page of a sweep, events that say where the sweep stands, and metrics.
type Server struct {
	URL string

	board *Board
	build Maker
	http  *http.Server
	ctx   context.Context // until Close
	end   context.CancelFunc

	mu      sync.Mutex
	page    []byte
	err     error // why there is no newer page
	version int   // of the page
	built   time.Time
	took    time.Duration
}

// Serve listens at an address, HOST:PORT, and serves what build makes. It calls build
// once, and again when [Server.Refresh] says so, never two at a time.
func Serve(address string, b *Board, build Maker) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: another program listens at this port; end it, or choose another port, 0 for any that is free",
			address)
	case err != nil:
		return nil, fmt.Errorf("cannot listen at %s: %w; want HOST:PORT of this host, such as %s", address, err, DefaultAddress)
	}
	s := &Server{URL: "http://" + listener.Addr().String() + "/", board: b, build: build}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.http = &http.Server{Handler: named(s.handler(), OnLoopback(listener.Addr().String())), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }() // ends with the server
	return s, nil
}

// OnLoopback says whether an address can be reached from this host alone.
func OnLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// share is the part of the time that may go into making pages, as a divisor.
const share = 10

// Refresh makes the page anew, and reports whether it did: not if making pages would then take
// more than a tenth of the time, unless it is to be done now.
func (s *Server) Refresh(now bool) bool {
	s.mu.Lock()
	next := s.version + 1
	early := s.version > 0 && time.Since(s.built) < max(time.Second, share*s.took)
	s.mu.Unlock()
	if early && !now {
		return false
	}
	begun := time.Now()
	page, err := s.build(next)
	s.mu.Lock()
	s.built = time.Now()
	s.took, s.err = s.built.Sub(begun), err
	if err == nil {
		s.page, s.version = page, next
	}
	s.mu.Unlock()
	s.board.change(func(*Status) {})
	return true
}

// Close sends open pages the outcome, and ends.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil { // a slow reader
		s.http.Close()
	}
}

// handler answers GET and HEAD. Nothing can be changed.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show)
	mux.HandleFunc("GET "+Events, s.events)
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	return mux
}

// named refuses, of a server on the loopback, requests under another name than the
// loopback's: a page from elsewhere whose name was made to lead here (DNS rebinding).
func named(next http.Handler, loopback bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loopback && !OnLoopback(r.Host) {
			http.Error(w, "This server answers for the loopback of its host alone.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// show answers with the page.
func (s *Server) show(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	page, err := s.page, s.err
	s.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case page == nil && err != nil:
		http.Error(w, "There is no page: "+err.Error(), http.StatusInternalServerError)
	case page == nil:
		w.Header().Set("Refresh", "1")
		http.Error(w, "The page is being made.", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page) // a client that does not read it has left
	}
}

const (
	eventEvery = 200 * time.Millisecond // at most
	quietEvery = 15 * time.Second       // a word to a page without news, or a proxy might end the connection
)

// events sends where the sweep stands, and which version of the page there is, whenever
// that has changed.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func() bool {
		_, err := w.Write(s.event())
		return err == nil && out.Flush() == nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	s.board.follow(ctx, eventEvery, quietEvery, send)
	send() // how it ended, unless the page has gone
}

// event is one of the stream: the status as JSON, with the version of the page.
func (s *Server) event() []byte {
	s.mu.Lock()
	version := s.version
	s.mu.Unlock()
	var text []byte
	s.board.look(func(status *Status) {
		text, _ = json.Marshal(struct { // of numbers and texts alone
			Version int `json:"version"`
			*Status
		}{version, status})
	})
	return fmt.Appendf(nil, "data: %s\n\n", text)
}

// serveMetrics answers in Prometheus's text format with what the board says, and with three
// standard metrics of a process in Go.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	described := ""
	metric := func(name, kind, help string, x float64, labels ...any) { // pairs of a label and its value
		if name != described {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
			described = name
		}
		if len(labels) > 0 {
			name += fmt.Sprintf("{%s=%q}", labels...)
		}
		fmt.Fprintf(w, "%s %v\n", name, x)
	}
	gauge := func(name, help string, x float64, labels ...any) {
		metric("dmebench_"+name, "gauge", help, x, labels...)
	}
	s.board.look(func(s *Status) {
		gauge("sweep_runs_planned", "Runs of the sweep.", float64(s.Planned))
		for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
			gauge("sweep_runs", "Runs that have ended, by their status.", float64(s.Counts[status]), "status", status)
		}
		warned := 0
		for _, w := range s.Warnings {
			warned += w.Runs
		}
		gauge("sweep_warnings", "Warnings of runs.", float64(warned))
		if s.Left > 0 {
			gauge("sweep_left_seconds", "Estimated time until the sweep ends.", s.Left)
		}
		r := s.Run
		if r == nil {
			return
		}
		gauge("run_info", "The run in progress.", 1, "run", r.What)
		gauge("run_entries", "Critical sections of the run in progress, so far.", float64(r.Entries))
		gauge("run_entries_per_second", "Critical sections per second of the run in progress, in the latest second.", r.Rate)
		gauge("run_nodes_waiting", "Nodes that wait in the run in progress.", float64(r.Waiting))
		if r.P99 > 0 {
			const help = "Waiting time in the run in progress, so far."
			gauge("run_waiting_seconds", help, float64(r.P50)/1e9, "quantile", "0.5")
			gauge("run_waiting_seconds", help, float64(r.P99)/1e9, "quantile", "0.99")
		}
	})
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	metric("process_cpu_seconds_total", "counter", "Processor time of this process.", environment.OwnTime().Seconds())
	metric("go_memstats_sys_bytes", "gauge", "Memory that this process has from the system.", float64(memory.Sys))
	metric("go_goroutines", "gauge", "Goroutines of this process.", float64(runtime.NumGoroutine()))
}
