// Package run resolves what one run is asked to do, a [result.Spec], to a [Job]
// whose every name has been looked up and every value checked. Both the network
// runtime and the simulator carry out jobs.
package run
