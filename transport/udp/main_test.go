package udp

import (
	"os"
	"testing"

	"dmebench/transport/transporttest"
)

// TestMain lets the test binary become a peer of the conformance suite, or a
// process of a benchmark.
func TestMain(m *testing.M) {
	if os.Getenv(benchVar) != "" {
		os.Exit(benchChild())
	}
	os.Exit(transporttest.Main(m, subjects()...))
}
