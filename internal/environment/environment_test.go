package environment

import (
	"runtime"
	"testing"
)

func TestDescribeKnowsTheProgramAndTheMachine(t *testing.T) {
	e := Describe()
	if e["go"] != runtime.Version() || e["os"] != runtime.GOOS {
		t.Errorf("go %q on %q", e["go"], e["os"])
	}
	for _, key := range []string{"arch", "cores", "gomaxprocs", "kernel"} {
		if e[key] == "" {
			t.Errorf("%s is not known", key)
		}
	}
	for key, value := range e {
		if value == "" {
			t.Errorf("%s is there but empty", key)
		}
	}
}

func TestFieldsOfFilesThatAreNotThere(t *testing.T) {
	if got := field("/nowhere", "x") + firstFields("/nowhere", 3); got != "" {
		t.Errorf("got %q", got)
	}
}
