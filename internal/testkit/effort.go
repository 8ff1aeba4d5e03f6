package testkit

import (
	"os"
	"testing"
)

// Effort is the environment variable that says how much tests do: all that a change needs
// without it, what takes minutes too with "long", as continuous integration has it, and
// with "full" as many seeds, schedules and kills as is promised anywhere.
const Effort = "DMEBENCH_TESTS"

// Long reports whether tests that take minutes are to run.
func Long() bool { return os.Getenv(Effort) == "long" || Full() }

// TakesLong skips a test if those that take minutes are not to run, unless golden files are
// rewritten.
func TakesLong(t testing.TB) {
	t.Helper()
	if !Long() && !Rewriting() {
		t.Skip("it takes long: " + Effort + "=long runs it")
	}
}

// Full reports whether tests are to do all that is promised, however long it takes.
func Full() bool { return os.Getenv(Effort) == "full" }
