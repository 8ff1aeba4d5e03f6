package testkit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// servers are hosts that people log in to by ssh, each with its own sshd, its own key
// and its own home.
type servers struct {
	config string   // of ssh, for who logs in
	homes  []string // homes[i] is that on host i+2
}

// sshd starts a server of ssh on all hosts but the first, which is where people sit.
func sshd(t *testing.T, bed *Testbed) servers {
	t.Helper()
	daemon, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("no sshd here; on Debian: apt-get install openssh-server")
	}
	dir := t.TempDir()
	key := func(name string) string {
		path := filepath.Join(dir, name)
		must(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path))
		return path
	}
	mine := key("mine")
	var known bytes.Buffer
	s := servers{config: filepath.Join(dir, "config")}
	for _, h := range bed.Hosts[1:] {
		own := key(h.Name)
		public, err := os.ReadFile(own + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&known, "%s %s", h.Address, public)

		home := filepath.Join(dir, "home of "+h.Name)
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		s.homes = append(s.homes, home)
		// In place of root's, which all hosts would share. What systemd keeps for the
		// users of this host is not theirs either.
		cmd := h.Command("unshare", "--mount", "bash", "-c", `
			mount --bind "$1" /root && mount -t tmpfs tmpfs /run && mkdir /run/sshd && shift && exec "$@"`, "bash", home,
			daemon, "-D", "-e", "-f", "/dev/null", "-o", "ListenAddress="+h.Address, "-o", "HostKey="+own,
			"-o", "AuthorizedKeysFile="+mine+".pub", "-o", "StrictModes=no", "-o", "UsePAM=no",
			"-o", "PasswordAuthentication=no", "-o", "PermitRootLogin=prohibit-password", "-o", "PidFile=none")
		log, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		waitFor(t, log, "Server listening on "+h.Address)
	}
	write(t, filepath.Join(dir, "known_hosts"), known.String())
	write(t, s.config, fmt.Sprintf("UserKnownHostsFile %s/known_hosts\nGlobalKnownHostsFile /dev/null\nIdentityFile %s\n"+
		"IdentitiesOnly yes\nUser root\nStrictHostKeyChecking yes\n"+
		"Host stranger\nHostName 10.77.0.2\nHostKeyAlias stranger\n", dir, mine))
	return s
}

// agents runs ssh.sh on the first host, for the hosts of a list.
func (s servers) agents(t *testing.T, bed *Testbed, list string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hosts of mine")
	write(t, file, list)
	ssh := filepath.Join(filepath.Dir(string(bed.Hosts[0].script)), "ssh.sh")
	cmd := bed.Host(1).Command(ssh, append([]string{file}, args...)...)
	cmd.Env = append(os.Environ(), "SSH_CONFIG="+s.config)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestAgentsBySSH(t *testing.T) {
	if !Long() {
		t.Skip("the program is built, and copied to other hosts several times")
	}
	bed := NewTestbed(t, 3)
	program := filepath.Join(t.TempDir(), "dmebench")
	must(t, exec.Command("go", "build", "-ldflags=-s", "-o", program, "dmebench/cmd/dmebench"))
	s := sshd(t, bed)
	dir := filepath.Join(t.TempDir(), "broker")
	broker := bed.Host(1).Command(program, "broker", "--listen", bed.Host(1).Address+":4222", "--dir", dir)
	said, err := broker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	broker.Stderr = t.Output()
	if err := broker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = broker.Process.Kill()
		_ = broker.Wait()
	})
	waitFor(t, said, "--nats-url")

	start := []string{"start", "--nats-url", "tls://10.77.0.1:4222", "--dir", dir, "--program", program}

	// What is odd about a label reaches the agent, which refuses it, as it stands here:
	// no shell has read it.
	odd := `room=it's;$(touch${IFS}/root/owned)"*&\`
	out, err := s.agents(t, bed, "10.77.0.2 --label "+odd, start...)
	if err == nil || !strings.Contains(out, fmt.Sprintf("10.77.0.2: the agent has ended: dmebench: agent: label %q", odd)) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(s.homes[0], "owned")); err == nil {
		t.Error("a shell has read the label")
	}

	list := "# two hosts\n10.77.0.2 --label rack=a\n\nssh://root@10.77.0.3:22 --name third"
	out, err = s.agents(t, bed, list, start...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first := pids(t, out, `(?m)^10\.77\.0\.2: started, process (\d+): agent h2: ready at `,
		`(?m)^ssh://root@10\.77\.0\.3:22: started, process (\d+): agent third: ready at `)
	token, err := os.ReadFile(filepath.Join(dir, "creds"))
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range s.homes {
		copied := filepath.Join(home, ".dmebench-agent", "creds")
		if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, token) {
			t.Errorf("the token is not there: %v", err)
		}
		if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others can read the token: %v, %v", info, err)
		}
	}

	// Once more: other processes, and no others than these.
	out, err = s.agents(t, bed, list, start...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	second := pids(t, out, `(?m)^10\.77\.0\.2: started, process (\d+)`, `(?m)^ssh://\S+: started, process (\d+)`)
	out, err = s.agents(t, bed, list, "status")
	now := pids(t, out, `(?m)^10\.77\.0\.2: runs, process (\d+)`, `(?m)^ssh://\S+: runs, process (\d+)`)
	if err != nil || !slices.Equal(now, second) || slices.Contains(now, first[0]) || slices.Contains(now, first[1]) {
		t.Errorf("%v run, and not %v, after %v: %v", now, second, first, err)
	}

	if out, err = s.agents(t, bed, list, "stop"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = s.agents(t, bed, list, "status"); err == nil || strings.Count(out, "does not run") != 2 {
		t.Errorf("after stop: %v\n%s", err, out)
	}
	if out, err = s.agents(t, bed, list, "remove"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, home := range s.homes {
		if left, _ := os.ReadDir(home); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// What cannot work is refused with what to do, and a host that fails is named.
func TestSSHRefuses(t *testing.T) {
	bed := NewTestbed(t, 2)
	s := sshd(t, bed)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "creds"), "x")
	broken := filepath.Join(dir, "broken")
	write(t, broken, "no program")
	start := "start --nats-url tls://10.77.0.1:4222 --dir " + dir + " --program "
	for _, c := range []struct{ list, args, want string }{
		{"10.77.0.2", "fly", "there is no command 'fly'"},
		{"10.77.0.2", "", "want start, status, log, stop or remove"},
		{"10.77.0.2", "stop now", "stop takes nothing after it"},
		{"# nobody\n", "stop", "names no host"},
		{"--label a=b", "stop", "a line begins with the host"},
		{"10.77.0.2", "start --dir " + dir, "--nats-url is missing"},
		{"10.77.0.2", "start --nats-url tls://a:4222 --dir " + dir + "/x", "--dir needs the folder that has creds"},
		{"10.77.0.2", "start --nats-url", "--nats-url needs a value"},
		{"10.77.0.2", "start --port 4", "start has no --port"},
		{"10.77.0.2", start + broken + "x", "there is no file"},
		{"10.77.0.2", start + broken, "10.77.0.2: the program does not run here, on Linux"},
		{"10.77.0.2", "status", "10.77.0.2: does not run"},
		// Its key is none that is known: it is refused, and nobody is asked.
		{"stranger", "status", "stranger: Host key verification failed"},
		{"10.77.0.9", "status", "10.77.0.9: "},
	} {
		out, err := s.agents(t, bed, c.list, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%q, %s: %v\n%s", c.list, c.args, err, out)
		}
	}
}

func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pids are the numbers that each pattern finds in what was said.
func pids(t *testing.T, said string, patterns ...string) []string {
	t.Helper()
	var all []string
	for _, p := range patterns {
		m := regexp.MustCompile(p).FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("%s is not in\n%s", p, said)
		}
		all = append(all, m[1])
	}
	return all
}
