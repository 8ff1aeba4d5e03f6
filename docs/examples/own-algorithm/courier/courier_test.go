package courier

import (
	"testing"

	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }
