package agent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"dmebench/internal/platform"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/runs"
)

type load struct {
	cores   int
	workers func() []launch.Process // still running

	mu    sync.Mutex
	since usage  // when it began
	begun bool   // the run has, and not only its preparations
	least uint64 // memory that was available; 0 if that is not known
}

// usage is how much time processors have spent, up to an instant.
type usage struct {
	at      time.Time     // zero if the system does not say
	busy    time.Duration // all processors of the host, with anything
	workers time.Duration // with the run's workers
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

// report says how busy the host was since the run began; nil if the system does not say.
func (l *load) report() *runs.HostLoad {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := use(l.workers())
	passed := now.at.Sub(l.since.at).Seconds()
	if passed <= 0 {
		return nil
	}
	return &runs.HostLoad{
		Cores: l.cores,
		Busy:  (now.busy - l.since.busy).Seconds() / passed, Workers: (now.workers - l.since.workers).Seconds() / passed,
		MemoryFree: int64(l.least),
	}
}

// tick is the unit of the processor times in /proc: it is the same on all systems that Go supports,
// independent of the kernel's own.
const tick = time.Second / 100

// use says how much time processors have spent until now. The workers' time is that of the living
// processes, and of all children that have ended.
func use(alive []launch.Process) (u usage) {
	times := environment.TimesOfProcessors()
	var children syscall.Rusage
	if times == (environment.ProcessorTimes{}) || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return u
	}
	u.at, u.busy = time.Now(), time.Duration(times.Busy)*tick
	u.workers = time.Duration(children.Utime.Nano() + children.Stime.Nano())
	for _, p := range alive {
		u.workers += timeOf(p.PID())
	}
	return u
}

// timeOf returns the processor time of a process; 0 of one that has ended.
func timeOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name of the program, in brackets, may itself hold brackets and spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system = 11, 12 // behind the name; the 14th and 15th of all
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.ParseInt(fields[user], 10, 64)
	s, _ := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(u+s) * tick
}

// Info is what an agent says of itself and its host.
type Info struct {
	Name        string              `json:"name"`
	Instance    string              `json:"instance"`          // drawn at random by each agent process
	Address     string              `json:"address"`           // by which other hosts reach this one, without a port
	Labels      map[string]string   `json:"labels,omitempty"`  // as its operator has set them
	Cores       int                 `json:"cores"`             // for its processes
	Program     environment.Program `json:"program"`           // run by its workers
	Environment map[string]string   `json:"environment"`       // as in results
	Holder      string              `json:"holder,omitempty"`  // the coordinator that has taken it; "" if it is free
	Between     bool                `json:"between,omitempty"` // the coordinator is between two runs
	Ticket      string              `json:"ticket,omitempty"`  // by which it can be taken, once
	Refused     uint64              `json:"refused"`           // requests that could not be read, or were of no lease
	PID         int                 `json:"pid"`               // of the agent
}

// label is what names and values of labels, and names of agents, are made of; mostName is
// the length of the longest.
var label = platform.Pattern(`^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

func isLabel(s string) bool { return len(s) <= mostName && label().MatchString(s) }

const mostName = 253

// CheckName refuses what is no name of an agent.
func CheckName(name string) error {
	if !isLabel(name) {
		return fmt.Errorf("agent: name %q: want letters, digits and . _ - / between them", name)
	}
	return nil
}

// ParseLabels reads labels as they are on a command line, KEY=VALUE each.
func ParseLabels(pairs []string) (map[string]string, error) {
	var errs []error
	labels := make(map[string]string)
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		switch _, twice := labels[key]; {
		case !ok || !isLabel(key) || !isLabel(value):
			errs = append(errs, fmt.Errorf("agent: label %q: want KEY=VALUE, of letters, digits and . _ - / between them", pair))
		case twice:
			errs = append(errs, fmt.Errorf("agent: label %q: %s has a value already", pair, key))
		default:
			labels[key] = value
		}
	}
	return labels, errors.Join(errs...)
}

// checkAddress refuses an address at which no process of this host can listen.
func checkAddress(address string) error {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return fmt.Errorf("agent: address %q: %w; want an address of this host, or a name of it, by which the other hosts reach it",
			address, err)
	}
	defer l.Close()
	if ip := l.Addr().(*net.TCPAddr).IP; ip.IsUnspecified() || ip.IsMulticast() {
		return fmt.Errorf("agent: address %q: want one address of this host, by which the other hosts reach it", address)
	}
	return nil
}

func loopback(address string) bool {
	if address == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(address, "[]"))
	return err == nil && ip.IsLoopback()
}

func (a *agent) describe() Info {
	facts := environment.Describe()
	a.mu.Lock()
	defer a.mu.Unlock()
	i := Info{
		Name: a.Name, Instance: a.instance, Address: a.Address, Labels: a.Labels, Cores: a.cores, Program: a.program,
		Environment: facts, Ticket: a.ticket, Refused: a.refused.Load(), PID: os.Getpid(),
	}
	if a.lease != nil {
		i.Holder, i.Ticket = a.lease.holder, ""
	} else if i.Holder = a.reservedFor(); i.Holder != "" {
		i.Between = true
	}
	return i
}

// compareNames compares names as people count: h2 stands before h10.
func compareNames(a, b string) int {
	return cmp.Or(strings.Compare(padded(a), padded(b)), strings.Compare(a, b))
}

var number = platform.Pattern(`[0-9]+`)

// padded returns a name with all its numbers equally long.
func padded(name string) string {
	return number().ReplaceAllStringFunc(name, func(n string) string { return strings.Repeat("0", max(0, mostName-len(n))) + n })
}
