package manifests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unit is the unit of systemd with another program in place of the installed one.
func unit(t *testing.T, program string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testbed, "dmebench-agent.service"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	if strings.Count(text, "\nExecStart=/usr/local/bin/dmebench ") != 1 {
		t.Fatal("the unit does not start /usr/local/bin/dmebench")
	}
	return strings.Replace(text, "\nExecStart=/usr/local/bin/dmebench ", "\nExecStart="+program+" ", 1)
}

var execStart = regexp.MustCompile(`(?m)^ExecStart=\S+ ((?:.*\\\n)*.*)$`)

func TestServicesArguments(t *testing.T) {
	m := execStart.FindStringSubmatch(unit(t, "/usr/local/bin/dmebench"))
	if m == nil {
		t.Fatal("the unit starts nothing")
	}
	line := strings.ReplaceAll(m[1], "\\\n", " ")
	if args := strings.Fields(line); refusal(t, args) != "" {
		t.Errorf("the program refuses %q:\n%s", args, refusal(t, args))
	}
	if !strings.Contains(line, "${CREDENTIALS_DIRECTORY}/creds") || !strings.Contains(unit(t, "x"), "\nLoadCredential=creds:") {
		t.Error("the service is not given its credentials")
	}
}

// systemd reads every line of the unit, and finds nothing to complain of.
func TestServiceVerifies(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not here")
	}
	file := filepath.Join(t.TempDir(), "dmebench-agent.service")
	if err := os.WriteFile(file, []byte(unit(t, program(t))), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
