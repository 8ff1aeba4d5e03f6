package docs_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench"
)

// longest is how long the commands of a page may take together, on a machine that
// is busy with everything else.
const longest = 10 * time.Minute

// programName is the name by which this test binary is the program.
const programName = "dmebench"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		dmebench.Main(dmebench.Config{})
	}
	// The commands of pages wait most of the time, for processes: more pages at once than
	// processors.
	_ = flag.Set("test.parallel", "4")
	os.Exit(m.Run())
}

// program returns a folder with dmebench, for the commands of pages.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if to := filepath.Join(dir, programName); os.Link(self, to) != nil { // on another file system
		if err := os.WriteFile(to, read(t, self), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkout copies what a clone of the repository has, without what was measured
// or built there since.
func checkout(t *testing.T, to string) {
	t.Helper()
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		up := filepath.Dir(name)
		switch {
		case d.IsDir() && (name == ".git" || up == "results" && d.Name() != "reference"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular() || name == ".git" || up == "." && !strings.Contains(name, "."):
			return nil // such as a program that somebody built
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A session is one shell, as somebody has it who follows a page: variables,
// functions and folders stay from command to command.
type session struct {
	dir    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	output *bufio.Reader
	before map[string]time.Time // its files, before any command
}

// begin starts a shell in a copy of the repository. It has ended, with what it
// started in its process group, when the test has.
func begin(t *testing.T, programs string) *session {
	t.Helper()
	above := t.TempDir()
	s := &session{dir: filepath.Join(above, "dmebench"), cmd: exec.Command("bash", "--noprofile", "--norc")}
	checkout(t, s.dir)
	temporary := filepath.Join(above, "tmp")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	s.cmd.Dir = s.dir
	s.cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+temporary,
		"GOFLAGS=-trimpath", "GOWORK=off", "COLUMNS=", "NO_COLOR=1", "LC_ALL=C.UTF-8")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.output = bufio.NewReader(output)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }
	timer := time.AfterFunc(longest, end)
	t.Cleanup(func() {
		timer.Stop()
		end()
		s.cmd.Wait()
	})
	fmt.Fprintln(s.stdin, "exec 2>&1; set -o pipefail")
	s.before = s.files(t)
	return s
}

// files lists the files of the copy, with when they were changed.
func (s *session) files(t *testing.T) map[string]time.Time {
	t.Helper()
	all := make(map[string]time.Time)
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[strings.TrimPrefix(path, s.dir+string(filepath.Separator))] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// dirt lists the files for which git would call the tree of somebody dirty who has
// followed the page: a program that is built there then does not tell which it is.
func (s *session) dirt(t *testing.T) []string {
	t.Helper()
	var changed []string
	now := s.files(t)
	for name := range s.before {
		if _, there := now[name]; !there {
			changed = append(changed, name)
		}
	}
	for name, at := range now {
		if before, there := s.before[name]; !there || !at.Equal(before) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	git := func(args ...string) string { // in a folder of its own: the page's commands see none
		cmd := exec.Command("git", append([]string{"--git-dir=../git", "--work-tree=."}, args...)...)
		cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(strings.Join(changed, "\n"))
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && exit.ExitCode() == 1) { // 1: it ignores none
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git("init", "--quiet")
	ignored := strings.Split(git("check-ignore", "--no-index", "--stdin"), "\n")
	return slices.DeleteFunc(changed, func(name string) bool { return slices.Contains(ignored, name) })
}

// write writes a file below the copy.
func (s *session) write(name string, lines []string) error {
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// over ends what a command prints: no program prints it.
const over = "\x01over "

// home is what pages show in place of the folder in which their commands run.
const home = "/home/you"

// do runs a command and returns what it prints, on both streams as they come, and
// its exit code.
func (s *session) do(command string) (lines []string, code int, err error) {
	script := filepath.Join(filepath.Dir(s.dir), "command.sh")
	if err := os.WriteFile(script, []byte(command+"\n"), 0o644); err != nil {
		return nil, 0, err
	}
	// The code stays what a following 'echo $?' sees.
	fmt.Fprintf(s.stdin, "(exit ${code:-0}); source '%s' </dev/null; code=$?; printf '\\n%s%%d\\n' $code\n", script, over)
	var out bytes.Buffer
	for {
		line, err := s.output.ReadString('\n')
		if err != nil {
			return nil, 0, fmt.Errorf("the shell has ended, after it printed:\n%s", &out)
		}
		if rest, ok := strings.CutPrefix(line, over); ok {
			code, err = strconv.Atoi(strings.TrimSpace(rest))
			text := strings.TrimRight(strings.ReplaceAll(out.String(), filepath.Dir(s.dir), home), "\n")
			if text == "" {
				return nil, code, err
			}
			return strings.Split(text, "\n"), code, err
		}
		out.WriteString(line)
	}
}
