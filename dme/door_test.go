package dme_test

import (
	"testing"

	"dmebench/dme/conformance"
)

// The algorithm of the example is correct.
func TestDoor(t *testing.T) { conformance.Test(t, door) }
