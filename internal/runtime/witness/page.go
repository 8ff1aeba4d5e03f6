package witness

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
)

// magic begins every page and changes with its layout.
const magic = 0x646d6562656e3036

// header is the first part of the page; each hot word has a cache line.
type header struct {
	magic      atomic.Uint64
	nodes      atomic.Uint64
	records    atomic.Uint64 // room in a node's log; 0: logs are elsewhere
	watched    atomic.Uint64 // 1 if the histograms of waits lie here
	_          [4]uint64
	occupant   atomic.Uint64 // in the critical section: 0, a node, or readers | count
	_          [7]uint64
	order      atomic.Uint64 // entries so far
	_          [7]uint64
	violations atomic.Uint64
	intruder   atomic.Uint64 // the first violation: the node that entered …
	victim     atomic.Uint64 // … and the one that was inside
	_          [5]uint64
	hold       atomic.Uint64 // the node that makes this entry, or the next after it, stays inside; 0: none has to
	held       atomic.Uint64 // the node that does
	_          [6]uint64
	resource   record.SharedMemory
	_          [4]uint64
}

const (
	headerSize  = int(unsafe.Sizeof(header{}))
	counterSize = int(unsafe.Sizeof(noderun.Counters{}))
	trafficSize = int(unsafe.Sizeof(noderun.Traffic{}))
	waitsSize   = int(unsafe.Sizeof(noderun.Waits{}))

	readers = 1 << 63 // set in occupant while readers are inside
)

// Page is a mapped page of memory that the coordinator and the workers of one host share:
// the witness of mutual exclusion among them, and the counters of all nodes, which survive
// the death of the process that wrote them.
//
// Workers inherit the page as a file descriptor. Everything in it is read and
// written atomically.
type Page struct {
	file    *os.File
	memory  []byte
	header  *header
	nodes   []noderun.Counters
	traffic []noderun.Traffic
	waits   []noderun.Waits // nil if not counted
	logs    []byte
}

type Room struct {
	Nodes   int
	Records int  // entries in the log of each node; 0 if logs do not lie in the page
	Watched bool // histograms of how long each node waited
}

func (r Room) size() int { return r.logs() + r.Nodes*logSize(r.Records) }

func (r Room) logs() int {
	size := r.counters()
	if r.Watched {
		size += r.Nodes * waitsSize
	}
	return size
}

func (r Room) counters() int { return headerSize + r.Nodes*(counterSize+trafficSize) }

func CreatePage(r Room) (*Page, error) {
	f, err := anonymous(r.size())
	if err != nil {
		return nil, fmt.Errorf("shared page: cannot make one for %d nodes: %w", r.Nodes, err)
	}
	p, err := mapFile(f, r.Nodes, r.size())
	if err != nil {
		f.Close()
		return nil, err
	}
	p.header.nodes.Store(uint64(r.Nodes))
	p.header.records.Store(uint64(r.Records))
	if r.Watched {
		p.header.watched.Store(1)
	}
	p.header.magic.Store(magic)
	p.divide(r)
	return p, nil
}

func (p *Page) room() Room {
	return Room{Nodes: int(p.header.nodes.Load()), Records: p.records(), Watched: p.header.watched.Load() == 1}
}

func (p *Page) divide(r Room) {
	if r.Watched {
		p.waits = unsafe.Slice((*noderun.Waits)(unsafe.Pointer(&p.memory[r.counters()])), r.Nodes)
	}
	p.logs = p.memory[r.logs():]
}

// OpenPage maps the page that f holds, which CreatePage made for nodes nodes, perhaps
// in another process.
func OpenPage(f *os.File, nodes int) (*Page, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("shared page: %w; a worker is started by its coordinator only", err)
	}
	if info.Size() < int64(Room{Nodes: nodes}.size()) {
		return nil, fmt.Errorf("shared page: %d bytes are not a page for %d nodes; are coordinator and worker of one build?",
			info.Size(), nodes)
	}
	p, err := mapFile(f, nodes, int(info.Size()))
	if err != nil {
		return nil, err
	}
	if p.header.magic.Load() != magic || p.header.nodes.Load() != uint64(nodes) || len(p.memory) != p.room().size() {
		p.Close()
		return nil, fmt.Errorf("shared page: its layout is another one; are coordinator and worker of one build?")
	}
	p.divide(p.room())
	return p, nil
}

func mapFile(f *os.File, nodes, size int) (*Page, error) {
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shared page: cannot map it: %w", err)
	}
	return &Page{
		file: f, memory: memory,
		header:  (*header)(unsafe.Pointer(&memory[0])),
		nodes:   unsafe.Slice((*noderun.Counters)(unsafe.Pointer(&memory[headerSize])), nodes),
		traffic: unsafe.Slice((*noderun.Traffic)(unsafe.Pointer(&memory[headerSize+nodes*counterSize])), nodes),
	}, nil
}

// File returns the descriptor that a worker inherits.
func (p *Page) File() *os.File { return p.file }

// Counters returns the counters of node id.
func (p *Page) Counters(id dme.NodeID) *noderun.Counters { return &p.nodes[id-1] }

// Traffic returns what is counted of the messages of node id by kind.
func (p *Page) Traffic(id dme.NodeID) *noderun.Traffic { return &p.traffic[id-1] }

func (p *Page) Nodes() []noderun.Counters { return p.nodes }

func (p *Page) Waits(id dme.NodeID) *noderun.Waits {
	if p.waits == nil {
		return nil
	}
	return &p.waits[id-1]
}

func (p *Page) Close() error {
	err := unix.Munmap(p.memory)
	p.memory, p.header, p.nodes, p.traffic, p.waits, p.logs = nil, nil, nil, nil, nil, nil
	if e := p.file.Close(); err == nil {
		err = e
	}
	return err
}

// Enter takes the critical section for node id, alone or as one of several readers, and returns the
// entry's place in the order of all entries, from 1. If a node is inside that excludes id, that is
// counted as a violation.
func (p *Page) Enter(id dme.NodeID, shared bool) (order uint64) {
	h := p.header
	for {
		inside := h.occupant.Load()
		next := uint64(id)
		free := inside == 0
		if shared {
			next = readers | 1
			if inside&readers != 0 {
				next, free = inside+1, true
			}
		}
		if !free {
			if h.violations.Add(1) == 1 {
				h.intruder.Store(uint64(id))
				h.victim.Store(inside)
			}
			break
		}
		if h.occupant.CompareAndSwap(inside, next) {
			break
		}
	}
	return h.order.Add(1)
}

// Exit gives the critical section back, unless an intruder finds it taken by another.
func (p *Page) Exit(id dme.NodeID, shared bool) {
	h := p.header
	for {
		inside := h.occupant.Load()
		next := uint64(0)
		switch {
		case shared && inside&readers == 0, !shared && inside != uint64(id):
			return
		case shared && inside != readers|1:
			next = inside - 1
		}
		if h.occupant.CompareAndSwap(inside, next) {
			return
		}
	}
}

// Violations counts entries that found a node inside that excludes them, and describes the first.
func (p *Page) Violations() (n uint64, first string) {
	h := p.header
	n = h.violations.Load()
	if n == 0 {
		return 0, ""
	}
	victim := h.victim.Load()
	if victim&readers != 0 {
		return n, fmt.Sprintf("node %d entered while %d readers were inside", h.intruder.Load(), victim&^readers)
	}
	return n, fmt.Sprintf("node %d entered while node %d was inside", h.intruder.Load(), victim)
}

// For faults. A fault that is to strike a node inside the critical section cannot be aimed by
// looking: the section is over sooner than a signal arrives. So the node that enters is asked to
// stay.

func (p *Page) Entries() uint64 { return p.header.order.Load() }

// Hold asks the node that makes the entry of that place in the order, or the first one after it, to
// stay inside.
func (p *Page) Hold(order uint64) {
	p.header.held.Store(0)
	p.header.hold.Store(order)
}

// Stays reports, once, whether the node that has just made the entry of that place has to
// stay inside. It does, and says so by Stay as soon as the fault may strike.
func (p *Page) Stays(order uint64) bool {
	wanted := p.header.hold.Load()
	return wanted != 0 && order >= wanted && p.header.hold.CompareAndSwap(wanted, 0)
}

func (p *Page) Stay(id dme.NodeID) { p.header.held.Store(uint64(id)) }

func (p *Page) Held() dme.NodeID { return dme.NodeID(p.header.held.Load()) }

// Remove takes a node that does nothing any more out of the page: the critical
// section is free of it, and it is down. Its counts stay.
func (p *Page) Remove(id dme.NodeID) {
	c := &p.nodes[id-1]
	p.Exit(id, noderun.Activity(c.Activity.Load()) == noderun.Inside && p.header.occupant.Load()&readers != 0)
	c.Timers.Store(0)
	c.Pending.Store(0)
	c.Activity.Store(uint64(noderun.Down))
}

// Read and Write use the resource as [Resource.Read] and [Resource.Write] do.
func (p *Page) Read(fencing uint64) (Seen, error) {
	version, err := p.header.resource.Read(fencing)
	return Seen{Version: version}, err
}

func (p *Page) Write(seen Seen, u record.Update) error {
	p.header.resource.Write(seen.Version, u.Fencing)
	return nil
}

func (p *Page) Resource() record.Resource { return p.header.resource.State() }

// If nodes are killed on purpose, their logs lie in the page: what they have recorded outlives
// them.

type logHeader struct {
	count   atomic.Uint64
	entered atomic.Int64 // when the node made its latest entry
	_       [6]uint64
}

const (
	logHeaderSize = int(unsafe.Sizeof(logHeader{}))
	entrySize     = int(unsafe.Sizeof(record.Entry{}))
)

func logSize(records int) int {
	if records == 0 {
		return 0
	}
	return logHeaderSize + (records*entrySize+63)&^63
}

func (p *Page) records() int { return int(p.header.records.Load()) }

func (p *Page) logHeader(id dme.NodeID) *logHeader {
	return (*logHeader)(unsafe.Pointer(&p.logs[int(id-1)*logSize(p.records())]))
}

func (p *Page) Log(id dme.NodeID) (m record.Memory, ok bool) {
	if p.records() == 0 {
		return m, false
	}
	h := p.logHeader(id)
	first := (*record.Entry)(unsafe.Add(unsafe.Pointer(h), logHeaderSize))
	return record.Memory{Count: &h.count, Slots: unsafe.Slice(first, p.records())}, true
}

// Entered notes when node id makes an entry; logs must lie here.
func (p *Page) Entered(id dme.NodeID, at int64) { p.logHeader(id).entered.Store(at) }
func (p *Page) LastEntered(id dme.NodeID) int64 { return p.logHeader(id).entered.Load() }
