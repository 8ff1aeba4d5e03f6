package report

import "dmebench/result"

type metric struct {
	name string
	of   func(*result.Result) *float64
}

// The metrics that the page and the figures ask for by name.
const (
	messagesPerCS      = result.MessagesPerCS
	transmissionsPerCS = result.TransmissionsPerCS
	throughput         = result.Throughput
	responseMean       = result.ResponseMean
	responseP50        = result.ResponseP50
	responseP90        = result.ResponseP90
	responseP99        = result.ResponseP99
	responseP999       = result.ResponseP999
	waitingP50         = result.WaitingP50
	waitingP99         = result.WaitingP99
	syncDelayP50       = result.SyncDelayP50
	meanDelay          = result.MeanDelay
	syncDelayOverT     = result.SyncDelayOverT
	meanHold           = result.MeanHold
	jain               = result.JainIndex
	workMaxOverMean    = result.WorkMaxOverMean
	longestRun         = result.LongestRun
	maxBypass          = result.MaxBypass
	maxBypassByOne     = result.MaxBypassByOne
)

func metrics() []metric {
	var all []metric
	for _, m := range result.Metrics() {
		all = append(all, metric{m.Name, m.Read})
	}
	return all
}
