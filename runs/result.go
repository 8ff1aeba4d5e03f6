package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dmebench/internal/platform/fileio"
)

// SchemaVersion is the version of the result's JSON form.
const SchemaVersion = 1

// Status is how a run ended.
type Status string

// A run is ok when mutual exclusion held and every request was served; violated
// when it did not hold; stalled when requests are pending and nothing moves;
// failed when it could not be carried out.
const (
	OK       Status = "ok"
	Violated Status = "violated"
	Stalled  Status = "stalled"
	Failed   Status = "failed"
)

// Result is what one run found out. Its JSON form is a contract: keys are added, never changed. If
// there is no sample a value is null.
type Result struct {
	SchemaVersion int      `json:"schema_version"`
	Algorithm     string   `json:"algorithm"`
	Nodes         int      `json:"nodes"`
	Transport     string   `json:"transport"`
	Workload      string   `json:"workload"`
	Seed          uint64   `json:"seed"`
	Status        Status   `json:"status"`
	Error         string   `json:"error,omitempty"`
	Partial       bool     `json:"partial,omitempty"` // interrupted: of what was measured until then
	FailedNodes   []int    `json:"failed_nodes,omitempty"`
	FailedStderr  []string `json:"failed_stderr,omitempty"` // what the process that failed wrote

	Requests uint64 `json:"requests"` // calls of Request
	Entries  uint64 `json:"entries"`  // exits

	Messages Messages `json:"messages"`
	Wire     Wire     `json:"wire"`

	Throughput     *float64   `json:"throughput_cs_per_s"`                   // in the steady part
	ResponseTime   *Quantiles `json:"response_time_ns"`                      // request to exit
	WaitingTime    *Quantiles `json:"waiting_time_ns"`                       // intended arrival to entry
	SyncDelay      *Quantiles `json:"sync_delay_ns"`                         // exit to next entry, if another node was waiting
	T              *float64   `json:"t_ns"`                                  // mean one-way delay, of messages back to back
	THandover      *float64   `json:"t_handover_ns,omitempty"`               // the same, of messages as far apart as handovers
	SyncDelayOverT *float64   `json:"sync_delay_over_t"`                     // of the means; T is Delay()
	CS             *float64   `json:"cs_ns"`                                 // mean duration of a critical section as held
	SyncDelayBound *int64     `json:"sync_delay_bound_ns,omitempty"`         // of several hosts: on the error of mean and percentiles up to 99
	SyncDelayLoad  *float64   `json:"sync_delay_by_throughput_ns,omitempty"` // 1/throughput - E, of a saturating workload on several hosts
	Lateness       *Quantiles `json:"lateness_ns"`                           // of the generator, behind its schedule
	Offered        *float64   `json:"offered_cs_per_s"`                      // what an open workload offered
	Unserved       uint64     `json:"unserved"`                              // requests that still waited in line at the end

	Fairness Fairness `json:"fairness"`
	Work     Work     `json:"work"`
	Safety   Safety   `json:"safety"`
	Liveness Liveness `json:"liveness"`
	Service  *Service `json:"service,omitempty"` // of a run that measures a lock service
	Warmup   Warmup   `json:"warmup"`
	Steady   *Steady  `json:"steady,omitempty"` // of a simulation whose warm-up was given
	Faults   []Fault  `json:"faults,omitempty"` // what was done to the run on purpose, in order of time

	Thresholds []Threshold `json:"thresholds,omitempty"` // set for the run, in the order given

	// Figures are quantities of claims of the algorithm, by their ids, in the units of the claims:
	// those of its gauges, and those that follow from the entries.
	Figures map[string]float64 `json:"figures,omitempty"`

	Workers     int               `json:"workers"`         // processes
	Hosts       []Host            `json:"hosts,omitempty"` // of a run on other hosts than the coordinator's alone
	Links       []HostLink        `json:"links,omitempty"` // between them
	Sites       []Site            `json:"sites,omitempty"` // of a network with sites
	Warnings    []string          `json:"warnings"`
	Environment map[string]string `json:"environment"`
	Spec        Spec              `json:"spec"`
	Histograms  Histograms        `json:"histograms"`
	Series      *Series           `json:"series,omitempty"`

	// Sections is the record of each critical section in a compact form, if it
	// was asked for. It is kept in a file of its own beside the result: see
	// [Run.Sections].
	Sections []byte `json:"-"`
}

// Delay returns T as the run's own messages meet it, the mean one-way delay in nanoseconds: of
// messages as far apart as its handovers if those were measured, else of messages back to back; nil
// if it is unknown.
func (r *Result) Delay() *float64 {
	if r.THandover != nil {
		return r.THandover
	}
	return r.T
}

// Failure is the result of a run that could not be carried out.
func Failure(s Spec, err error) *Result {
	return &Result{
		SchemaVersion: SchemaVersion, Status: Failed, Error: err.Error(), Spec: s,
		Algorithm: s.Algorithm, Nodes: s.Nodes, Transport: s.Transport, Workload: s.Workload, Seed: s.Seed,
		Messages: Messages{ByKind: map[string]uint64{}}, Warnings: []string{}, Environment: map[string]string{},
	}
}

// Messages counts the messages of the whole run, from start to quiescence.
type Messages struct {
	Total         uint64            `json:"total"`         // one for each receiver
	Transmissions uint64            `json:"transmissions"` // a native broadcast counts once
	Refused       uint64            `json:"refused"`       // by their receivers
	PerCS         *float64          `json:"per_cs"`
	SteadyPerCS   *float64          `json:"steady_per_cs"` // after warm-up
	ByKind        map[string]uint64 `json:"by_kind"`
	PerEntry      map[string]uint64 `json:"per_entry"` // in serial: how many entries cost how many messages

	BetweenSites *uint64 `json:"between_sites,omitempty"` // of a network with sites: of Total
}

// Site is a place where nodes are, of a network with sites.
type Site struct {
	Name    string     `json:"name"`
	Nodes   int        `json:"nodes"`
	Entries uint64     `json:"entries"`
	Waiting *Quantiles `json:"waiting_time_ns"`
	Stays   uint64     `json:"stays"`    // entries whose entry before was at this site too
	DelayNS []int64    `json:"delay_ns"` // mean one-way, that the links to each site add
}

// Wire counts what the transport did; in a simulation a frame is a message.
type Wire struct {
	Frames          uint64  `json:"frames"`
	Bytes           uint64  `json:"bytes"`
	Writes          uint64  `json:"writes"`
	Packets         *uint64 `json:"packets"` // datagrams or TCP segments sent; null if the transport does not know
	Retransmissions uint64  `json:"retransmissions"`
	Duplicates      uint64  `json:"duplicates"`   // frames dropped because they had been delivered
	KernelDrops     uint64  `json:"kernel_drops"` // datagrams that found the receive buffer full
	Refused         uint64  `json:"refused"`      // frames and connections of strangers, and malformed ones
}

// Quantiles summarizes a distribution of times in nanoseconds.
type Quantiles struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	P50   int64   `json:"p50"`
	P90   int64   `json:"p90"`
	P99   int64   `json:"p99"`
	P999  int64   `json:"p999"`
	Max   int64   `json:"max"`
}

// Fairness says how evenly and in which order nodes entered.
type Fairness struct {
	Jain       *float64 `json:"jain"`              // index of the nodes' entries in the steady part; 1 is even
	LongestRun uint64   `json:"longest_run"`       // entries in a row by one node
	MaxBypass  uint64   `json:"max_bypass"`        // entries by others between a request and its entry
	ByOne      uint64   `json:"max_bypass_by_one"` // the same by one other node
	OutOfOrder uint64   `json:"out_of_order"`      // entries whose stamp precedes that of an earlier entry
}

// Work says how evenly the nodes share the work, and how large things grew.
type Work struct {
	MaxOverMean   *float64 `json:"max_over_mean"` // messages sent and received, busiest node over mean
	LongestQueue  uint64   `json:"longest_queue"`
	LongestBytes  uint64   `json:"longest_message_bytes"`
	SentByNode    []uint64 `json:"sent_by_node"`
	HandledByNode []uint64 `json:"handled_by_node"`
	EntriesByNode []uint64 `json:"entries_by_node"`
}

// Safety says whether mutual exclusion held.
type Safety struct {
	Violations uint64 `json:"violations"`
	Checked    uint64 `json:"checked"` // entries that were checked
	Method     string `json:"method"`

	// Of a run on several hosts: entries for which the hosts' clocks cannot decide whether a node
	// of another host was still inside.
	Undecided uint64 `json:"undecided,omitempty"`

	Resource *Resource `json:"resource,omitempty"` // null if there was none
}

// Service is what is known of a lock service that was measured in place of an algorithm.
type Service struct {
	Servers     int               `json:"servers"`          // of the run's own
	Settings    map[string]string `json:"settings"`         // of the servers, as they say
	ClientBytes uint64            `json:"client_bytes"`     // of connections between clients and servers
	Between     *Between          `json:"between"`          // what they have exchanged; null if they do not report it
	Untold      string            `json:"untold,omitempty"` // why
	FailedCalls uint64            `json:"failed_calls"`     // of Lock, which were repeated
	Expired     uint64            `json:"expired"`          // locks that were lost while they were held
}

// Between counts what the servers of a service have exchanged.
type Between struct {
	Messages *uint64 `json:"messages"` // null if they do not count them
	Bytes    *uint64 `json:"bytes"`
}

// Resource is a shared resource that every critical section reads, changes and
// writes back. An update that is lost is a violation.
type Resource struct {
	Kind        string       `json:"kind"`    // "nats", "memory"
	Updates     uint64       `json:"updates"` // written back
	LostUpdates uint64       `json:"lost_updates"`
	Refused     uint64       `json:"refused,omitempty"` // updates too late: a larger fencing token came first
	Lost        []LostUpdate `json:"lost,omitempty"`    // the first of them
}

// LostUpdate describes two critical sections that were not apart: what Node wrote was overwritten
// by Other, which had read before that. Times are since the start of the run, each on its host's
// clock.
type LostUpdate struct {
	Version      uint64 `json:"version"` // the version Other had read
	Node         int    `json:"node"`    // the node whose update was lost
	EnteredNS    int64  `json:"entered_ns"`
	ExitedNS     int64  `json:"exited_ns"`
	Other        int    `json:"other"` // the node that has overwritten it
	OtherEntered int64  `json:"other_entered_ns"`
	OtherExited  int64  `json:"other_exited_ns"`
}

// Host is where some of the nodes of a run lived.
type Host struct {
	Name        string            `json:"name"`
	Address     string            `json:"address"` // by which the other hosts reach it
	Labels      map[string]string `json:"labels,omitempty"`
	Nodes       []int             `json:"nodes"`
	Load        *HostLoad         `json:"load,omitempty"` // while the run went on
	Clock       *HostClock        `json:"clock,omitempty"`
	Environment map[string]string `json:"environment"`
}

// HostLoad says how busy a host was.
type HostLoad struct {
	Cores      int     `json:"cores"`
	Busy       float64 `json:"busy"`              // mean number of cores that were busy
	Workers    float64 `json:"workers"`           // of these, with the run's workers
	MemoryFree int64   `json:"memory_free_bytes"` // least that was available
}

// HostClock compares the clock of a host with the coordinator's.
type HostClock struct {
	OffsetNS   int64   `json:"offset_ns"`        // by which it is ahead, at the start of the run
	BoundNS    int64   `json:"bound_ns"`         // on the error of any of its times
	DriftPPM   float64 `json:"drift_ppm"`        // by which it runs fast
	DriftBound float64 `json:"drift_bound_ppm"`  // on the error of that; 0: unknown
	SetNS      int64   `json:"set_ns,omitempty"` // by at least how much it was set while the run went on
}

// Drift returns by how many parts per million the clock runs fast, if that is known.
func (c *HostClock) Drift() (ppm float64, known bool) { return c.DriftPPM, c.DriftBound > 0 }

// HostLink is what a message between two hosts takes, measured by datagrams between
// their agents before, during and after the run.
type HostLink struct {
	From      string  `json:"from"`
	To        string  `json:"to"`
	Sent      int     `json:"sent"`
	Lost      int     `json:"lost"`
	RTTMin    int64   `json:"rtt_min_ns,omitempty"`
	RTTMedian int64   `json:"rtt_median_ns,omitempty"`
	RTTP99    int64   `json:"rtt_p99_ns,omitempty"`
	By        string  `json:"by"`        // "udp", or "control" if no datagram passes: by way of the coordinator's clock
	OffsetNS  int64   `json:"offset_ns"` // by which To's clock is ahead of From's, at the start of the run
	BoundNS   *int64  `json:"bound_ns"`  // null if nothing is known of the offset
	DriftPPM  float64 `json:"drift_ppm"`

	DriftBound float64 `json:"drift_bound_ppm,omitempty"` // on the error of that; 0: unknown
}

// Drift returns by how many parts per million To's clock runs faster than From's, if that is
// known. Results of earlier versions have no bound.
func (l *HostLink) Drift() (ppm float64, known bool) {
	return l.DriftPPM, l.DriftBound > 0 || l.DriftPPM != 0
}

// Liveness says whether every request was served.
type Liveness struct {
	Stalled bool     `json:"stalled"`
	Pending uint64   `json:"pending"`           // requests that were not served
	States  []string `json:"states,omitempty"`  // of a stalled run: every node's decoded state
	Why     []string `json:"why,omitempty"`     // of a stalled run: what is waited for in the end
	Waits   []Wait   `json:"waits,omitempty"`   // of a stalled run: its wait-for graph
	Waiting []int    `json:"waiting,omitempty"` // of a stalled run: nodes that had asked and not entered
	Down    []int    `json:"down,omitempty"`    // of a stalled run: nodes that were no part of it
}

// Wait is one reason for which a node cannot go on: an edge of the wait-for graph.
type Wait struct {
	Node int    `json:"node"`
	For  int    `json:"for"`
	What string `json:"what"` // what it needs of the other: "REPLY", "RELEASE"
}

// Warmup says which entries the steady part leaves out.
type Warmup struct {
	Entries uint64 `json:"entries"`
	Method  string `json:"method"` // "mser-5", "given" or "none"
}

// Fault is what was done to which nodes, and its effect. Times are since the start of the run,
// durations since the fault.
type Fault struct {
	Fault   string `json:"fault"` // as it was asked for: "kill holder @entry:100"
	AtNS    int64  `json:"at_ns"`
	What    string `json:"what"`
	Nodes   []int  `json:"nodes"`             // nodes that it hit; for a partition, its first side
	Servers []int  `json:"servers,omitempty"` // of a lock service, from 1, which it hit in place of nodes

	EndedNS     *int64  `json:"ended_ns"`     // until a pause or a partition was over; null if it stayed
	RecoveredNS *int64  `json:"recovered_ns"` // until the next entry of a node that it did not hit; null if there was none
	ServedNS    *int64  `json:"served_ns"`    // until the last of the requests that waited when it struck was served; null while one is not
	Waiting     uint64  `json:"waiting"`      // requests of other nodes that waited when it struck
	Lost        uint64  `json:"lost"`         // requests and entries of the nodes it hit, which ended with them
	Messages    *uint64 `json:"messages"`     // sent until it had recovered; null if it did not
}

// Threshold is what a user does not accept of a run, and what came of it.
type Threshold struct {
	Threshold string   `json:"threshold"` // as it was given: "p99>10ms"
	Metric    string   `json:"metric"`
	Limit     float64  `json:"limit"`   // in the metric's unit
	Value     *float64 `json:"value"`   // null if the run has none
	Crossed   *bool    `json:"crossed"` // null if that is unknown
}

// Series is the course of a run, in intervals of equal length from its start on.
type Series struct {
	IntervalNS int64    `json:"interval_ns"`
	Entries    []uint64 `json:"entries"` // exits in the interval
	P50NS      []*int64 `json:"p50_ns"`  // waiting time of the entries in the interval; null if there was none
	P99NS      []*int64 `json:"p99_ns"`
	Waiting    []int64  `json:"waiting"` // requests that waited at its end, of those that were served in the end
}

// Histograms holds whole distributions in HdrHistogram's compressed form.
type Histograms struct {
	Response  string `json:"response,omitempty"`
	Waiting   string `json:"waiting,omitempty"`
	SyncDelay string `json:"sync_delay,omitempty"`
}

// The records of critical sections of a run lie beside its result: those of a store's
// runs in a folder, under names that are functions of the runs.
const (
	sectionsFolder    = "entries"
	sectionsExtension = ".entries.gz"
)

// sectionsOf returns where the records of a run of a store are.
func sectionsOf(store string, r Run) string {
	k := r.Key()
	text := fmt.Appendf(nil, "%q %q %q %d", k.Label, k.Transport, k.Workload, k.Repetition)
	for i, d := range dimensions {
		if value := k.Cell.values[i]; value != "" { // so that a new dimension renames nothing
			text = fmt.Appendf(text, " %s=%q", d.name, value)
		}
	}
	sum := sha256.Sum256(text)
	return filepath.Join(filepath.Dir(store), sectionsFolder, hex.EncodeToString(sum[:10])+sectionsExtension)
}

// SectionsBeside returns where the records of the run are whose result is a file.
func SectionsBeside(file string) string { return strings.TrimSuffix(file, ".json") + sectionsExtension }

func writeSections(path string, packed []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return fileio.Write(path, packed)
}

// Steady is what a simulation measured in the steady part of a run alone: between the exit with
// which the given warm-up ends and one not after the moment when the first node runs out of
// requests. If nodes ask again at their exits it is a whole number of rounds, of as many entries as
// there are nodes.
//
// The messages of a run as a whole have start-up and end among them, which are another load; these
// have not. A mean has no sample if it is null.
type Steady struct {
	Entries       uint64            `json:"entries"`
	Messages      uint64            `json:"messages"`      // one for each receiver
	Transmissions uint64            `json:"transmissions"` // a native broadcast counts once
	ByKind        map[string]uint64 `json:"by_kind"`

	Throughput *float64 `json:"throughput_cs_per_s"`
	Response   *float64 `json:"response_mean_ns"`
	Waiting    *float64 `json:"waiting_mean_ns"`
	SyncDelay  *float64 `json:"sync_delay_mean_ns"`
}

// Outcome is what a run says about its algorithm.
type Outcome int

const (
	Held    Outcome = iota
	Broken          // violated, or stalled although the links met the needs
	Unknown         // failed, or stalled for another reason
)

// Outcome returns what a run with this status says about its algorithm. linksMetNeeds
// is false also if faults were injected.
func (s Status) Outcome(linksMetNeeds bool) Outcome {
	switch {
	case s == OK:
		return Held
	case s == Violated, s == Stalled && linksMetNeeds:
		return Broken
	}
	return Unknown
}
