package runs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/units"
)

// Figure is one that a report shows first, and draws for papers.
type Figure struct {
	// Show is a metric as [FindMetric] takes it, drawn against the number of nodes or
	// an axis, or one of [Pictures].
	Show string `json:"show" yaml:"show"`

	// Against is "n", or the name of an axis. "" stands for what varies: the number of
	// nodes, or the axes along which what was run on one number of nodes differs.
	Against string `json:"against,omitempty" yaml:"against,omitempty"`

	// Transport, Workload (labels of the experiment) and Nodes say of what alone it is;
	// else all become panels of one figure.
	Transport string `json:"transport,omitempty" yaml:"transport,omitempty"`
	Workload  string `json:"workload,omitempty" yaml:"workload,omitempty"`
	Nodes     int    `json:"nodes,omitempty" yaml:"nodes,omitempty"`
}

// OverN is the number of nodes as a [Figure] is drawn against it.
const OverN = "n"

// Pictures are the names of what figures show besides single metrics.
func Pictures() []string {
	return []string{
		KindsOfMessages, ResponseCDF, WorkPerNode, FairnessPicture, RecoveryPicture, CoursePicture, GrowthPicture,
	}
}

// Names of pictures.
const (
	KindsOfMessages = "kinds-of-messages" // their kinds, at each size
	ResponseCDF     = "response-cdf"      // the share of times up to each duration
	WorkPerNode     = "work-per-node"
	FairnessPicture = "fairness" // entries by node, and how unequal the work was
	RecoveryPicture = "recovery" // what faults cost
	CoursePicture   = "course"   // throughput and waiting time around faults
	GrowthPicture   = "growth"   // how messages grow with N
)

// Metric returns the metric that the figure shows; ok is false for a picture.
func (f Figure) Metric() (m Metric, ok bool) {
	m, err := FindMetric(f.Show)
	return m, err == nil && !slices.Contains(Pictures(), f.Show)
}

// Check returns what is wrong with a figure of an experiment.
func (f Figure) Check(e *Experiment) error {
	if _, ok := f.Metric(); !ok && !slices.Contains(Pictures(), f.Show) {
		if f.Show == "" {
			return errors.New("show is missing: a metric, or one of " + strings.Join(Pictures(), ", "))
		}
		names := Pictures()
		for _, m := range metrics {
			names = append(names, m.Slug())
		}
		return units.UnknownName("figure", f.Show, names,
			"there are the metrics of summary.csv, such as messages-per-cs or response-p99, and "+strings.Join(Pictures(), ", "))
	}
	has := func(what, name string, all []string) error {
		if name == "" || slices.Contains(all, name) {
			return nil
		}
		return units.UnknownName(what, name, all, "there are "+strings.Join(all, ", "))
	}
	axes, transports, workloads := []string{OverN}, []string(nil), []string(nil)
	for _, a := range e.Axes {
		axes = append(axes, a.Name)
	}
	if e.Axes == nil { // a report finds some itself
		axes = append(axes, "load", "load-per-node", "cs", "network")
		for _, w := range e.Workloads {
			axes = append(axes, slices.Sorted(maps.Keys(w.Set))...)
		}
	}
	for _, t := range e.Transports {
		transports = append(transports, t.Label)
	}
	for _, w := range e.Workloads {
		workloads = append(workloads, w.Label)
	}
	for _, err := range []error{
		has("axis", f.Against, axes), has("transport", f.Transport, transports), has("workload", f.Workload, workloads),
	} {
		if err != nil {
			return err
		}
	}
	if f.Nodes != 0 && !slices.Contains(e.Nodes, f.Nodes) {
		return fmt.Errorf("nodes %d: the experiment has no such size", f.Nodes)
	}
	return nil
}
