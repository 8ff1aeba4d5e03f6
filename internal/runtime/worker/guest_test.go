package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/sharedpage"
	"dmebench/runs"
	"dmebench/transport"
)

// Whoever leads a run on an agent's host cannot have it start a program: only the
// boot of a worker, which the agent writes itself, could allow it.
func TestProgramsAreStartedOnlyWhereThatIsAllowed(t *testing.T) {
	page, err := sharedpage.Create(sharedpage.Room{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	fd, err := unix.Dup(int(page.File().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	started := filepath.Join(t.TempDir(), "started")
	w := &worker{
		catalog: catalog.All(), clock: clock.New(), memory: os.NewFile(uintptr(fd), "shared page"),
		notify: func(control.Event) {},
	}
	defer w.close()
	r := w.answer(control.Command{Op: control.OpAssign, Assign: &control.Assignment{
		Spec: runs.Spec{
			Algorithm: "exec", Nodes: 1, Transport: "tcp", Set: map[string]string{"command": "touch " + started},
		}.WithDefaults(),
		Local: []dme.NodeID{1}, Listen: "127.0.0.1:0", Key: [transport.KeySize]byte{1}, LogLimit: 1,
	}})
	if !strings.Contains(r.Error, "does not start programs for others") {
		t.Errorf("the worker answers %q", r.Error)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("the program was started")
	}
}
