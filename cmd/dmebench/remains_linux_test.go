package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dmebench/internal/runtime/witness"
)

// soonEnough is within what everything that a run consists of has to be gone, once
// its end is due.
const soonEnough = 10 * time.Second

// processes lists the processes of a run: those that have its folder in their
// environment.
func (r *run) processes() []int {
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), "WORK="+r.dir) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

// workers lists the worker processes of a run.
func (r *run) workers() []int {
	return slices.DeleteFunc(r.processes(), func(pid int) bool {
		args, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return err != nil || !isWorker(strings.Split(string(args), "\x00"))
	})
}

// awaitWorkers returns the workers of a run once there are so many, or none where it
// ends before.
func (r *run) awaitWorkers(count int) []int {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if pids := r.workers(); len(pids) >= count {
			return pids
		}
		select {
		case <-r.ended:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
	r.t.Fatalf("no %d workers came up within a minute", count)
	return nil
}

// awaitEntries waits until so many nodes have entered the critical section, by the page
// that a worker shares with its coordinator.
func (r *run) awaitEntries(worker, nodes int) {
	r.t.Helper()
	page := r.page(worker, nodes)
	defer page.Close()
	for page.Entries() < uint64(nodes) {
		select {
		case <-r.ended:
			r.t.Fatalf("it has ended after %d entries", page.Entries())
		case <-time.After(time.Millisecond):
		}
	}
}

func (r *run) page(worker, nodes int) *witness.Page {
	r.t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", worker))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range files {
		if link, err := os.Readlink(name); err != nil || !strings.HasPrefix(link, "/memfd:dmebench") {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		page, err := witness.OpenPage(f, nodes)
		if err != nil {
			r.t.Fatal(err)
		}
		return page
	}
	r.t.Fatalf("worker %d shares no page", worker)
	return nil
}

// sockets lists the inodes of the sockets that the processes have open.
func sockets(pids []int) map[string]bool {
	all := make(map[string]bool)
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			name, err := os.Readlink(dir + f.Name())
			if inode, ok := strings.CutPrefix(name, "socket:["); err == nil && ok {
				all[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	return all
}

// known lists those of the sockets that the kernel still has.
func known(inodes map[string]bool) []string {
	var all []string
	for file, column := range map[string]int{"tcp": 9, "tcp6": 9, "udp": 9, "udp6": 9, "unix": 6} {
		b, _ := os.ReadFile("/proc/net/" + file)
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > column && inodes[f[column]] {
				all = append(all, file+" "+f[column])
			}
		}
	}
	return all
}

// shared lists the shared memory that has a name.
func shared(t *testing.T) []string {
	files, err := filepath.Glob("/dev/shm/*dmebench*")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// leavesNothing waits until no process of the run is there any more, nor any of the
// sockets that it had, and looks whether files or shared memory stayed.
func (r *run) leavesNothing(had map[string]bool, before []string) {
	r.t.Helper()
	for deadline := time.Now().Add(soonEnough); ; {
		pids, open := r.processes(), known(had)
		if len(pids)+len(open) == 0 {
			break
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%v later processes %v and sockets %v are still there", soonEnough, pids, open)
		}
		time.Sleep(time.Millisecond)
	}
	files, err := os.ReadDir(filepath.Join(r.dir, "tmp"))
	if err != nil || len(files) > 0 {
		r.t.Errorf("temporary files stayed: %v %v", files, err)
	}
	if now := shared(r.t); !slices.Equal(now, before) {
		r.t.Errorf("shared memory stayed: %q, before %q", now, before)
	}
}
