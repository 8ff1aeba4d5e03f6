package rabroadcast

import (
	"testing"

	"dmebench/algorithms/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }
