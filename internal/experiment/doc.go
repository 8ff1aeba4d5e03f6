// Package experiment turns an experiment file into runs and keeps their
// results.
//
// A [File] is the strict reading of a YAML file: what is to be compared, on how
// many nodes, over which transports, under which workloads, how often.
// [File.Expand] makes a [Plan] of it: one [Cell] for each run, every one of
// them resolved, so that nothing that can be known beforehand is left to go
// wrong after an hour. [Sweep] carries the plan out with a [Runner] that it is
// handed, into a [result.Store].
//
// Guarantees: a result is on disk, whole, before the next run starts; a sweep
// that was interrupted, at whatever byte, continues where it stopped and repeats
// only what is missing or failed; two sweeps never write to one folder; results
// of different files, or of one file whose meaning has changed, never mix.
//
// The package does not know how a run is carried out, judges no result and
// draws no picture.
package experiment
