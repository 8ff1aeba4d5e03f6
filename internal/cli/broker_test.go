package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testbed"
	"dmebench/internal/testkit"
	"dmebench/transport/nats"
)

// What the command prints is all that it takes to reach it: the URL, and the files.
func TestBrokerSaysHowToReachIt(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		dir := filepath.Join(t.TempDir(), "broker")
		r, w := io.Pipe()
		var errOut bytes.Buffer
		ended := make(chan int)
		go func() {
			args := []string{"dmebench", "broker", "--listen", listen, "--name", "127.0.0.1", "--dir", dir}
			code := Run(args, nil, w, &errOut, run.Catalog{}, nil, fstest.MapFS{})
			w.Close()
			ended <- code
		}()
		var flags []string
		var said strings.Builder
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			said.WriteString(lines.Text() + "\n")
			if rest, ok := strings.CutPrefix(lines.Text(), "an agent:"); ok {
				flags = strings.Fields(rest)
			}
			if strings.HasPrefix(lines.Text(), "a coordinator:") {
				break
			}
		}
		go io.Copy(io.Discard, r)
		if len(flags) != 6 || flags[2] != "--nats-url" || flags[4] != "--creds" {
			t.Fatalf("%s: %q", listen, flags)
		}
		b := nats.Broker{URL: flags[3]}
		file, err := os.ReadFile(filepath.Join(dir, flags[5]))
		if err == nil {
			err = testbed.Credentials(file, &b)
		}
		if strings.HasPrefix(b.URL, "nats://") {
			b.CA = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Check(); err != nil {
			t.Errorf("%s: %v; said\n%s", listen, err, said.String())
		}
		if b.Token == "" || strings.Contains(said.String(), b.Token) {
			t.Errorf("%s: the token is shown, or there is none", listen)
		}
		b.Token = ""
		if err := b.Check(); err == nil {
			t.Errorf("%s: it lets in a stranger without the token", listen)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		if code := <-ended; code != Interrupted || !strings.Contains(errOut.String(), "refused: 1") {
			t.Errorf("%s: exit code %d, said\n%s", listen, code, errOut.String())
		}
	}
}

func TestBrokerRefuses(t *testing.T) {
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{"broker", Usage, "--dir"},
		{"broker --dir d --listen here", Usage, "HOST:PORT"},
		{"broker --dir d --name a/b", Usage, "--name"},
		{"broker --dir d --name host:4222", Usage, "without a port"},
		{"broker --dir loose", CantCreate, "chmod 700"},
		{"broker --dir d --listen 192.0.2.77:0", Unavailable, "no such address"},
		{"broker d", Usage, "no arguments"},
	} {
		t.Chdir(t.TempDir())
		if err := errors.Join(os.Mkdir("loose", 0o700), os.Chmod("loose", 0o777)); err != nil { // whatever the umask
			t.Fatal(err)
		}
		var out, errOut bytes.Buffer
		code := Run(append([]string{"dmebench"}, words(x.args)...), nil, &out, &errOut, run.Catalog{}, nil, fstest.MapFS{})
		if code != x.code || !strings.Contains(errOut.String(), x.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", x.args, code, x.code, x.says, errOut.String())
		}
	}
}

// endless is an algorithm that never comes to an end with what it is asked for
// before a run begins: with its preparation, or with making a node.
func endless(t *testing.T, preparing bool) (a *dme.Algorithm, reached <-chan struct{}) {
	of, err := run.Catalog(algorithms.All()).Lookup("lamport")
	if err != nil {
		t.Fatal(err)
	}
	there, forever := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(forever) })
	wait := func() {
		select {
		case there <- struct{}{}:
		default:
		}
		<-forever
	}
	own := *of
	own.Prepare = func(c dme.Config) (dme.System, error) {
		if preparing {
			wait()
		}
		s, err := of.Prepare(c)
		return nodesAfter{s, wait}, err
	}
	return &own, there
}

type nodesAfter struct {
	dme.System
	wait func()
}

func (s nodesAfter) Node(id dme.NodeID) dme.Node {
	s.wait()
	return s.System.Node(id)
}

// TestPlanningIsInterrupted sends the signals that end the program while an
// algorithm prepares its system, or a simulation its nodes.
func TestPlanningIsInterrupted(t *testing.T) {
	testkit.TakesLong(t)
	t.Chdir(t.TempDir())
	// Where the tests themselves were told to ignore it, it would be.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	const file = "schema_version: 1\nname: x\nalgorithms: [lamport]\nnodes: [3]\ntransports: [sim]\n"
	if err := os.WriteFile("x.yaml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args      string
		preparing bool
		sig       syscall.Signal
	}{
		{"run -a lamport -n 3 --transport sim", true, syscall.SIGINT},
		{"run -a lamport -n 3", true, syscall.SIGHUP},
		{"check -a lamport -n 3", true, syscall.SIGINT},
		{"sweep -f x.yaml", false, syscall.SIGINT},
		{"validate -a lamport --quick", true, syscall.SIGTERM},
	} {
		a, reached := endless(t, x.preparing)
		go func() {
			<-reached
			_ = syscall.Kill(os.Getpid(), x.sig)
		}()
		var out, errOut bytes.Buffer
		code := Run(append([]string{"dmebench"}, words(x.args)...), nil, &out, &errOut, nil, run.Catalog{a}, fstest.MapFS{})
		if code != Interrupted {
			t.Errorf("%s, preparing: %v: exit code %d after %v: %s", x.args, x.preparing, code, x.sig, errOut.String())
		}
	}
}

// TestNohup has a program that was told to ignore its terminal's end ignore it.
func TestNohup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	ctx, stop := signals()
	defer stop()
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	<-ctx.Done()
	if cause := context.Cause(ctx).Error(); !strings.Contains(cause, "terminated") {
		t.Errorf("ended by: %s", cause)
	}
}

// Who sends a signal twice at once, as timeout does, does not insist; who sends another
// one later does.
func TestInsistence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			after   time.Duration
			insists bool
		}{{0, false}, {apart - 1, false}, {apart, true}, {time.Hour, true}} {
			interrupts, insisted, done := make(chan os.Signal), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				notice(interrupts, insisted)
			}()
			interrupts <- os.Interrupt
			time.Sleep(c.after) // in the time of the test
			interrupts <- os.Interrupt
			close(interrupts)
			<-done
			select {
			case <-insisted:
				if !c.insists {
					t.Errorf("a second signal %v later insists", c.after)
				}
			default:
				if c.insists {
					t.Errorf("a second signal %v later does not insist", c.after)
				}
			}
		}
	})
}
