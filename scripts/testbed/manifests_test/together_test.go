package manifests_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serve is a process that runs a NATS server with the configuration in a folder, until
// it is killed.
func serve(dir string) error {
	o, err := server.ProcessConfigFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		return err
	}
	o.StoreDir = filepath.Join(dir, "data")
	o.NoSigs = true
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.SetLoggerV2(discard{}, false, false, false)
	s.Start()
	s.WaitForShutdown()
	return nil
}

// discard keeps what a server logs to itself, but for errors.
type discard struct{ server.Logger }

func (discard) Noticef(string, ...any)           {}
func (discard) Warnf(string, ...any)             {}
func (discard) Debugf(string, ...any)            {}
func (discard) Tracef(string, ...any)            {}
func (discard) Errorf(format string, a ...any)   { fmt.Fprintf(os.Stderr, format+"\n", a...) }
func (d discard) Fatalf(format string, a ...any) { d.Errorf(format, a...) }

// netns runs a command of netns.sh for this test's own hosts.
func netns(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(filepath.Join(testbed, "netns.sh"), append([]string{"--name", fmt.Sprintf("dmebench-compose-%d", os.Getpid())}, args...)...)
}

// Without Docker, the same thing: the server with its configuration, agents and the
// coordinator with their arguments to the letter, each on a host of its own, in a root
// where there is nothing but the program and what is mounted there, as a user who
// owns nothing else.
func TestComposeRuns(t *testing.T) {
	const agents = 3 // as compose_test.go tells the Compose file
	p, err := compose(t, filepath.Join(testbed, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	root := image(t)
	if out, err := netns(t, "up", fmt.Sprint(agents+2)).CombinedOutput(); err != nil {
		t.Skipf("no hosts of one's own here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := netns(t, "down", "--kill").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	const at = agents + 1 // the server's host
	made := secrets(t, "nats")
	configuration(t, made)
	furnish(t, root, made, map[string]string{
		"/etc/hosts": fmt.Sprintf("10.77.0.%d nats\n", at),
		"/experiment.yaml": "schema_version: 1\nname: together\nalgorithms: [ricart-agrawala, raymond]\nnodes: [6]\n" +
			"transports: [tcp]\nworkloads: [{name: serial, cs: 0s, requests: 30}]\nrepetitions: 2\nseed: 1\n",
	})

	start(t, netns(t, "exec", fmt.Sprint(at), os.Args[0], "serve", made))
	within := func(host int, service string) *exec.Cmd {
		c := inside(root, p.Services[service].Command...)
		return netns(t, append([]string{"exec", fmt.Sprint(host)}, c.Args...)...)
	}
	for host := 1; host <= agents; host++ {
		start(t, within(host, "agent"))
	}
	out, err := within(agents+2, "coordinator").CombinedOutput()
	if err != nil {
		t.Fatalf("coordinator: %v\n%s", err, out)
	}
	stored, err := os.ReadFile(filepath.Join(root, "results", "together", "latest", "runs.jsonl"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if runs := strings.Count(string(stored), `"status":"ok"`); runs != 4 {
		t.Errorf("%d of 4 runs are good\n%s", runs, stored)
	}
	for host := 1; host <= agents; host++ {
		if n := strings.Count(string(stored), fmt.Sprintf(`"name":"h%d"`, host)); n != 4 {
			t.Errorf("h%d is named by %d of 4 runs\n%s", host, n, stored)
		}
	}
}

// furnish puts into an image what Compose mounts there: secrets for its user, files
// and a folder for results.
func furnish(t *testing.T, root, secrets string, files map[string]string) {
	t.Helper()
	for _, dir := range []string{"etc", "run/secrets", "results"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(secrets, "creds"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "run/secrets/creds")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, uid, uid); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(root, "results"), uid, uid); err != nil {
		t.Fatal(err)
	}
}

// start starts a command that runs until the hosts are gone.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}
