package udp

import (
	"os"
	"testing"

	"dmebench/transport/transporttest"
)

// TestMain lets the test binary become a peer of the conformance suite.
func TestMain(m *testing.M) {
	os.Exit(transporttest.Main(m, subjects()...))
}
