package commandline

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"dmebench/internal/exit"
	"dmebench/internal/run"
	"dmebench/transport/nats"
)

// What the command prints is all that it takes to reach it: the URL, and the files.
func TestBrokerSaysHowToReachIt(t *testing.T) {
	for _, x := range []struct {
		listen string
		files  []string
	}{
		{"127.0.0.1:0", []string{"token"}},
		{"0.0.0.0:0", []string{"ca.pem", "token"}},
	} {
		dir := filepath.Join(t.TempDir(), "broker")
		r, w := io.Pipe()
		var errOut bytes.Buffer
		ended := make(chan int)
		go func() {
			args := []string{"dmebench", "broker", "--listen", x.listen, "--name", "127.0.0.1", "--dir", dir}
			code := Run(args, nil, w, &errOut, run.Catalog{}, fstest.MapFS{})
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
		b := nats.Broker{}
		var files []string
		for i := 2; i+1 < len(flags); i += 2 {
			if flags[i] == "--nats-url" {
				b.URL = flags[i+1]
				continue
			}
			content, err := os.ReadFile(filepath.Join(dir, flags[i+1]))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, flags[i+1])
			switch flags[i] {
			case "--nats-ca":
				b.CA = content
			case "--nats-creds":
				if err := b.Credentials(content); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s: an agent is given %s", x.listen, flags[i])
			}
		}
		if strings.Join(files, " ") != strings.Join(x.files, " ") {
			t.Errorf("%s: an agent is given %v, want %v", x.listen, files, x.files)
		}
		if err := b.Check(); err != nil {
			t.Errorf("%s: %v; said\n%s", x.listen, err, said.String())
		}
		if b.Token == "" || strings.Contains(said.String(), b.Token) {
			t.Errorf("%s: the token is shown, or there is none", x.listen)
		}
		b.Token = ""
		if err := b.Check(); err == nil {
			t.Errorf("%s: it lets in who has no token", x.listen)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		if code := <-ended; code != exit.Interrupted || !strings.Contains(errOut.String(), "refused: 1") {
			t.Errorf("%s: exit code %d, said\n%s", x.listen, code, errOut.String())
		}
	}
}

func TestBrokerRefuses(t *testing.T) {
	loose := t.TempDir()
	if err := os.Chmod(loose, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{"broker", exit.Usage, "--dir"},
		{"broker --dir d --listen here", exit.Usage, "HOST:PORT"},
		{"broker --dir d --name a/b", exit.Usage, "--name"},
		{"broker --dir d --name host:4222", exit.Usage, "without a port"},
		{"broker --dir " + loose, exit.CantCreate, "chmod 700"},
		{"broker --dir d --listen 192.0.2.77:0", exit.Unavailable, "no such address"},
		{"broker d", exit.Usage, "no arguments"},
	} {
		t.Chdir(t.TempDir())
		var out, errOut bytes.Buffer
		code := Run(append([]string{"dmebench"}, words(x.args)...), nil, &out, &errOut, run.Catalog{}, fstest.MapFS{})
		if code != x.code || !strings.Contains(errOut.String(), x.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", x.args, code, x.code, x.says, errOut.String())
		}
	}
}
