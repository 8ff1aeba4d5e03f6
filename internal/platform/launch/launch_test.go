package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const word = "launched"

// config is what a process of these tests is told.
type config struct {
	Secret   string
	Complain string // what to write to standard error
	Chatter  int    // answers that nobody asked for
	Stay     bool   // pays no attention to its standard input
	Code     int
}

// TestMain lets the test binary become a process that answers with what it has
// been told, and then repeats whatever it is sent.
func TestMain(m *testing.M) {
	if !Is(os.Args, word) {
		os.Exit(m.Run())
	}
	parent := NewParent(os.Stdin, os.Stdout)
	var c config
	if err := parent.Receive(&c); err != nil {
		panic(err)
	}
	fmt.Fprint(os.Stderr, c.Complain)
	parent.Send([]string{c.Secret, fmt.Sprint(runtime.GOMAXPROCS(0)), strings.Join(os.Args[1:], " ")})
	for i := range c.Chatter {
		parent.Send(i)
	}
	if c.Code != 0 {
		os.Exit(c.Code)
	}
	for {
		var value any
		if err := parent.Receive(&value); err != nil {
			break
		}
		parent.Send(value)
	}
	if c.Stay {
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGUSR1)
		<-never
	}
	os.Exit(0)
}

func start(t *testing.T, c config) *Child {
	t.Helper()
	p, err := Local{Answers: true}.Start(Command{Word: word, Name: "process 7", Config: c, GOMAXPROCS: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		End(0, p)
		goleak.VerifyNone(t)
		if err := syscall.Kill(p.PID(), 0); err != syscall.ESRCH {
			t.Errorf("the process is still there: %v", err)
		}
	})
	return p
}

func TestAProcessHearsAnswersAndLeaves(t *testing.T) {
	p := start(t, config{Secret: "not on a command line"})
	var got []string
	if err := p.Receive(t.Context(), &got); err != nil || !slices.Equal(got, []string{"not on a command line", "3", word}) {
		t.Errorf("%q, %v", got, err)
	}
	p.Send(42)
	var n int
	if err := p.Receive(t.Context(), &n); err != nil || n != 42 {
		t.Errorf("%d, %v", n, err)
	}
	End(time.Minute, p)
	if p.Outcome() != "exit status 0" || p.Stderr() != nil {
		t.Errorf("%s, %q", p.Outcome(), p.Stderr())
	}
}

func TestAProcessThatEndsTooEarlySaysWhy(t *testing.T) {
	p := start(t, config{Complain: "it hurts\n", Code: 3})
	var got []string
	if err := p.Receive(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	err := p.Receive(t.Context(), &got)
	if want := "process 7 has ended: exit status 3: it hurts"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Neither answers that nobody takes nor a process that does not want to leave
// keep End waiting.
func TestEndKillsWhoStays(t *testing.T) {
	p := start(t, config{Stay: true, Chatter: 3})
	q := start(t, config{Stay: true, Chatter: 100_000})
	End(10*time.Millisecond, p, q)
	for _, p := range []*Child{p, q} {
		if p.Outcome() != "signal: killed" {
			t.Error(p.Outcome())
		}
	}
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	p := start(t, config{})
	var got []string
	if err := p.Receive(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := p.Receive(ctx, &got); err != cause {
		t.Error(err)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if p, err := (Local{Program: "/nonexistent/program"}).Start(Command{Name: "worker 0"}); err == nil || p != nil ||
		!strings.Contains(err.Error(), "cannot start worker 0") {
		t.Errorf("%v, %v", p, err)
	}
}

func TestTailKeepsBothEnds(t *testing.T) {
	var x tail
	if x.lines() != nil {
		t.Errorf("%q", x.lines())
	}
	fmt.Fprint(&x, "first line\n")
	for i := range 10_000 {
		fmt.Fprintf(&x, "%d\n", i)
	}
	lines := x.lines()
	if len(lines) > 3000 || lines[0] != "first line" || lines[1] != "0" || lines[len(lines)-1] != "9999" {
		t.Errorf("%d lines from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if !slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, "bytes left out") }) {
		t.Error("it is not said that something is left out")
	}
	if n, err := io.WriteString(&x, "more"); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A paused process stands still until it is resumed or killed.
func TestPause(t *testing.T) {
	p := start(t, config{})
	var first []string
	if err := p.Receive(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	if p.Stopped() {
		t.Error("a process that runs is stopped")
	}
	for range 3 {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "linux" && !p.Stopped() {
			t.Error("a process that was paused runs")
		}
		p.Send("again")
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
		var answer string
		if err := p.Receive(t.Context(), &answer); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	<-p.Ended()
	if p.Pause() == nil || p.Resume() == nil {
		t.Error("a process that has ended was paused and resumed")
	}
}
