package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dmebench/internal/testkit"
)

func TestMain(m *testing.M) {
	// These tests wait most of the time, for processes: more at once than processors.
	_ = flag.Set("test.parallel", "4")
	testscript.Main(m, map[string]func(){"dmebench": main, "soaked": soaked})
}

// TestScripts runs the command line as a user does: each script is a session,
// with what must come out and the exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	// Where the tests were told to ignore it, the programs that they start would.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	examples, err := filepath.Abs("../../docs/examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else every process sleeps for a second before it exits
			e.Setenv("EXAMPLES", examples)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition %s", name)
			}
			return testkit.Long(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonValue, "occupied": occupied, "killworker": killWorker, "workers": countWorkers,
			"awaitworkers": awaitWorkers, "unread": unread, "signalled": signalled,
			"wrong": wrong,
		},
	})
}
