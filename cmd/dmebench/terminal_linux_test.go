package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"dmebench/internal/testkit"
	"golang.org/x/sys/unix"
)

// onTerminal runs the program with its output on a terminal of that many columns, and
// returns what it has written there.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) string {
	t.Helper()
	cmd, master := atTerminal(t, columns, env, args...)
	var b bytes.Buffer
	_, _ = io.Copy(&b, master) // ends with an error when nobody has the terminal open
	_ = cmd.Wait()             // how it ends is the machine's matter
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// atTerminal starts the program on a terminal of that many columns. What it writes
// there is read from master.
func atTerminal(t *testing.T, columns uint16, env []string, args ...string) (cmd *exec.Cmd, master *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	path, err := exec.LookPath("dmebench") // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = terminal, terminal
	err = cmd.Start()
	terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, master
}

// On a terminal lists are as wide as it is, and have colours unless NO_COLOR says
// otherwise.
func TestListsOnTerminals(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"list", "maekawa"}, {"sweep", "-a", "maekawa", "-n", "3", "--dry-run"}} {
		plain := onTerminal(t, 72, []string{"NO_COLOR=1", "TERM=xterm"}, args...)
		if n := widest(plain); strings.Contains(plain, "\x1b[") || n < 50 || n > 72 {
			t.Errorf("%v: coloured in spite of NO_COLOR, or %d columns wide:\n%s", args, n, plain)
		}
	}
	if text := onTerminal(t, 72, []string{"NO_COLOR=", "TERM=xterm"}, "list", "maekawa"); !strings.Contains(text, "\x1b[1m") {
		t.Errorf("no colours:\n%s", text)
	}
}

// widest is the length of the longest line.
func widest(text string) (n int) {
	for line := range strings.Lines(text) {
		n = max(n, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
	}
	return n
}

// On a terminal, doctor uses its width up to 120 columns, and colours unless NO_COLOR or
// the terminal's kind says otherwise.
func TestDoctorOnTerminals(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	for _, c := range []struct {
		columns  uint16
		env      []string
		coloured bool
	}{
		{80, []string{"NO_COLOR=", "TERM=xterm"}, true},
		{80, []string{"NO_COLOR=1", "TERM=xterm"}, false},
		{120, []string{"NO_COLOR=", "TERM=dumb"}, false},
		{200, []string{"NO_COLOR=1", "TERM=xterm"}, false},
	} {
		text := onTerminal(t, c.columns, c.env, "doctor", "-n", "2")
		if strings.Contains(text, "\x1b[") != c.coloured {
			t.Errorf("%d columns, %v: coloured or not:\n%q", c.columns, c.env, text)
		}
		if c.coloured {
			continue
		}
		if n, most := widest(text), min(int(c.columns), 120); n > most || n < most/2 {
			t.Errorf("%d columns: the widest line has %d:\n%s", c.columns, n, text)
		}
	}
}
