package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dmebench/internal/mutation/mutant"
)

// workshop is the folder in which programs with faults are built and run.
type workshop struct {
	root   string // of the module
	dir    string
	memory int64 // address space that a process may have, in bytes
	grace  time.Duration
	log    func(format string, args ...any)
}

// overlay writes rewritten files for the compiler, and package mutant.
func (w *workshop) overlay(files map[string][]byte) error {
	files = maps.Clone(files)
	files[runtimeFolder+"/mutant.go"] = runtimeSource
	replace := make(map[string]string)
	for name, text := range files {
		to := filepath.Join(w.dir, "overlay", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o666); err != nil {
			return err
		}
		replace[filepath.Join(w.root, filepath.FromSlash(name))] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, "overlay.json"), list, 0o666)
}

// program is a package's tests with all chosen faults in them, none active.
type program struct {
	w      *workshop
	folder string // of the package, relative to the module's root
	path   string // "" for a package without tests
	tests  []*test
	broken []string // tests that fail with no fault active
}

// test is a test of a program, and what was seen of it with no fault active.
type test struct {
	name      string
	wall, cpu time.Duration
	reaches   map[int]bool // numbers of mutants
}

// build compiles a package's tests.
func (w *workshop) build(ctx context.Context, folder string) (*program, error) {
	p := &program{w: w, folder: folder, path: filepath.Join(w.dir, strings.ReplaceAll(folder, "/", "_")+".test")}
	overlay := filepath.Join(w.dir, "overlay.json")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", p.path, "./"+folder)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mutation: compile the tests of %s: %w\n%s", folder, err, out)
	}
	if _, err := os.Stat(p.path); err != nil {
		p.path = "" // no test files
	}
	return p, nil
}

// observe runs each test once, with no fault active.
func (p *program) observe(ctx context.Context) error {
	if p.path == "" {
		return nil
	}
	list := p.run(ctx, trial{args: []string{"-test.list", "^(Test|Fuzz|Example)"}, limit: time.Minute})
	if list.failed {
		return fmt.Errorf("mutation: list the tests of %s:\n%s", p.folder, list.output)
	}
	for _, name := range strings.Fields(string(list.output)) {
		reached := filepath.Join(p.w.dir, "reached")
		if err := os.Remove(reached); err != nil && !os.IsNotExist(err) {
			return err
		}
		seen := p.run(ctx, trial{args: running(name), env: mutant.Reached + "=" + reached, limit: 5 * time.Minute})
		if err := ctx.Err(); err != nil {
			return err
		}
		if seen.failed {
			p.broken = append(p.broken, name)
			p.w.log("%s %s fails with no fault active and is left out", p.folder, name)
			continue
		}
		t := &test{name: name, wall: seen.wall, cpu: seen.cpu, reaches: make(map[int]bool)}
		numbers, err := os.ReadFile(reached)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for _, n := range strings.Fields(string(numbers)) {
			k, err := strconv.Atoi(n)
			if err != nil {
				return fmt.Errorf("mutation: what %s reaches: %w", name, err)
			}
			t.reaches[k] = true
		}
		p.tests = append(p.tests, t)
	}
	slices.SortStableFunc(p.tests, func(a, b *test) int { return int(a.wall - b.wall) })
	return nil
}

// running are the arguments that run the tests of these names and no others.
func running(names ...string) []string {
	return []string{"-test.run", "^(" + strings.Join(names, "|") + ")$", "-test.failfast", "-test.timeout", "0"}
}

// batches divides the tests that reach a mutant: few seconds' worth first.
func (p *program) batches(k int) (all [][]*test) {
	var batch []*test
	var sum time.Duration
	limit := time.Second
	for _, t := range p.tests {
		if !t.reaches[k] {
			continue
		}
		if batch = append(batch, t); sum+t.wall > limit {
			all, batch = append(all, batch), nil
			sum, limit = 0, 4*limit
			continue
		}
		sum += t.wall
	}
	if len(batch) > 0 {
		all = append(all, batch)
	}
	return all
}

// notice runs the tests that reach mutant k with it active, until one fails or does
// not end, and tells which.
func (p *program) notice(ctx context.Context, k int) (by string, noticed, reached bool) {
	for _, batch := range p.batches(k) {
		var names []string
		var wall, cpu time.Duration
		for _, t := range batch {
			names = append(names, t.name)
			wall += t.wall
			cpu += t.cpu
		}
		run := p.run(ctx, trial{
			args: running(names...), env: mutant.Active + "=" + strconv.Itoa(k), limit: 10*wall + 4*p.w.grace, cpu: 5*cpu + p.w.grace,
		})
		if ctx.Err() != nil {
			return "", false, true
		}
		if run.failed {
			return p.folder + " " + run.verdict(names), true, true
		}
		reached = true
	}
	return "", false, reached
}

// trial is one run of a program.
type trial struct {
	args  []string
	env   string
	limit time.Duration // on the wall
	cpu   time.Duration // of the processors, for each process; 0: no limit
}

type outcome struct {
	failed, late bool
	output       []byte
	wall, cpu    time.Duration
}

// run runs a program as `go test` would, in a process group and a temporary folder of
// its own.
func (p *program) run(ctx context.Context, t trial) outcome {
	temp, err := os.MkdirTemp(p.w.dir, "tmp")
	if err != nil {
		return outcome{failed: true, output: []byte(err.Error())}
	}
	defer os.RemoveAll(temp)
	limits := fmt.Sprintf("ulimit -v %d; ", p.w.memory>>10)
	if t.cpu > 0 {
		limits += fmt.Sprintf("ulimit -t %d; ", int(math.Ceil(t.cpu.Seconds())))
	}
	cmd := exec.Command("sh", append([]string{"-c", limits + `exec "$0" "$@"`, p.path}, t.args...)...)
	cmd.Dir = filepath.Join(p.w.root, filepath.FromSlash(p.folder))
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, t.env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{failed: true, output: []byte(err.Error())}
	}
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stop := context.AfterFunc(ctx, kill)
	defer stop()
	late := time.AfterFunc(t.limit, kill)
	err = cmd.Wait()
	inTime := late.Stop()
	kill() // what it has left behind
	o := outcome{failed: err != nil, late: !inTime, output: output.Bytes(), wall: time.Since(begin)}
	if cmd.ProcessState != nil {
		o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			o.late = true // the limit of processor time
		}
	}
	return o
}

// verdict says which test failed, and how.
func (o outcome) verdict(names []string) string {
	if o.late {
		return strings.Join(names, " ") + ": did not end"
	}
	for line := range strings.SplitSeq(string(o.output), "\n") {
		if _, name, ok := strings.Cut(line, "--- FAIL: "); ok && !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
	}
	for line := range strings.SplitSeq(string(o.output), "\n") {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return strings.Join(names, " ") + ": " + line
		}
	}
	return strings.Join(names, " ") + ": ended with an error"
}
