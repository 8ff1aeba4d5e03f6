package result

// Steady is what a simulation measured in the steady part of a run alone: between the
// exit with which the given warm-up ends and one not after the moment when the first
// node runs out of requests. Where nodes ask again at their exits it is a whole number
// of rounds, of as many entries as there are nodes.
//
// The messages of a run as a whole have start-up and end among them, which are another
// load; these have not. A mean has no sample where it is null.
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
