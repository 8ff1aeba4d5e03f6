package testkit

import (
	"os"
	"runtime/debug"
	"testing"
)

// Tests keep little of the memory that they allocate: to collect garbage less often saves a
// fifth of their processor time. Processes that they start collect it as they always do.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

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
