package agent

import (
	"sync"
	"time"

	"dmebench/internal/environment"
	"dmebench/internal/launch"
	"dmebench/result"
)

// load is how busy this host is while a run goes on.
type load struct {
	cores   int
	workers func() []launch.Process // those that have not ended
	quit    chan struct{}
	done    chan struct{}

	mu    sync.Mutex
	since usage  // when it began
	begun bool   // the run has, and not only its preparations
	least uint64 // memory that was available; 0 where that is not known
}

// usage is how much time processors have spent, up to an instant.
type usage struct {
	at      time.Time
	known   bool
	busy    time.Duration // all processors of the host, with whatever
	workers time.Duration // with the run's workers
}

const loadEvery = 500 * time.Millisecond // between looks at the memory

// startLoad begins to watch the host.
func startLoad(cores int, workers func() []launch.Process) *load {
	l := &load{cores: cores, workers: workers, quit: make(chan struct{}), done: make(chan struct{})}
	l.since = use(nil)
	l.least = environment.AvailableMemory()
	go l.watch()
	return l
}

func (l *load) watch() {
	defer close(l.done)
	t := time.NewTicker(loadEvery)
	defer t.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-t.C:
			l.look()
		}
	}
}

func (l *load) look() {
	free := environment.AvailableMemory()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.least = min(l.least, free)
}

// begin says that the run begins, unless it has begun.
func (l *load) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.begun, l.since = true, use(l.workers())
	}
}

// report says how busy the host was since the run began; nil where the system does not
// tell.
func (l *load) report() *result.HostLoad {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := use(l.workers())
	passed := now.at.Sub(l.since.at).Seconds()
	if !now.known || !l.since.known || passed <= 0 {
		return nil
	}
	return &result.HostLoad{
		Cores: l.cores,
		Busy:  (now.busy - l.since.busy).Seconds() / passed, Workers: (now.workers - l.since.workers).Seconds() / passed,
		MemoryFree: int64(l.least),
	}
}

func (l *load) stop() {
	close(l.quit)
	<-l.done
}
