// Package manifests_test checks what scripts/testbed hands to other engines: the
// Compose file is loaded by Compose's own library, the manifests by Kubernetes' own
// types, the NATS configuration by the NATS server, and every argument of dmebench in
// them is given to the program. It is a module of its own because of what that takes.
package manifests_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Where things are, seen from this folder.
const (
	testbed    = ".."
	repository = "../../.."
)

// goBuild is the line of the Dockerfile that builds the program.
var goBuild = regexp.MustCompile(`(?m)^RUN CGO_ENABLED=0 go build (.*) -o /dmebench (\./cmd/dmebench)$`)

var scratch string // a folder for what the tests share

var built = sync.OnceValues(func() (string, error) {
	dockerfile, err := os.ReadFile(filepath.Join(testbed, "Dockerfile"))
	if err != nil {
		return "", err
	}
	line := goBuild.FindStringSubmatch(string(dockerfile))
	if line == nil {
		return "", errors.New("there is no such line in the Dockerfile")
	}
	program := filepath.Join(scratch, "dmebench")
	cmd := exec.Command("go", slices.Concat([]string{"build"}, strings.Fields(line[1]), []string{"-o", program, line[2]})...)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
})

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		fmt.Fprintln(os.Stderr, serve(os.Args[2]))
		os.Exit(1)
	}
	var err error
	if scratch, err = os.MkdirTemp("", "dmebench-manifests-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// program returns the program, built as the Dockerfile builds it.
func program(t *testing.T) string {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatalf("the Dockerfile's go build: %v", err)
	}
	return p
}

// unknown is a flag that the program has not, so that it refuses every command before it
// starts anything. It names all flags that it does not know, and all values that it cannot
// read.
const unknown = "--zz"

// refusal is what the program says against a command and its flags; "" if it knows
// all of them and can read their values.
func refusal(t *testing.T, args []string) string {
	t.Helper()
	out, err := exec.Command(program(t), append(slices.Clone(args), unknown)...).CombinedOutput()
	if err == nil {
		return "the program takes " + unknown
	}
	expected := 0
	var others []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "unknown flag "+unknown+";") {
			expected++
		} else {
			others = append(others, line)
		}
	}
	if expected == 0 {
		return "there is no command " + args[0] + "\n" + string(out)
	}
	return strings.Join(others, "")
}

// There is nothing but the program in the image: no libc, no shell, no user.
func TestProgramRunsFromScratch(t *testing.T) {
	p := program(t)
	file, err := elf.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the program is not static")
		}
	}
	root := image(t)
	out, err := inside(root, "run", "--algorithm=ricart-agrawala", "--nodes=3", "--quiet", "--json").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"status":"ok"`) && !strings.Contains(string(out), `"status": "ok"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// image makes a folder with what the Dockerfile's image has.
func image(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("running in another root needs root")
	}
	root := t.TempDir()
	// The folders above belong to root alone; the program's user passes them.
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "dmebench"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// uid is who runs the program in the image.
const uid = 65532

// inside returns the command that runs the program in an image, with /proc and /dev,
// which every container has.
func inside(root string, args ...string) *exec.Cmd {
	return exec.Command("unshare", slices.Concat([]string{
		"--mount", "bash", "-c", `mkdir -p "$2"/{proc,dev} && mount -t proc proc "$2/proc" && mount --bind /dev "$2/dev" && exec chroot "$@"`,
		"chroot", fmt.Sprintf("--userspec=%d:%d", uid, uid), root, "/dmebench",
	}, args)...)
}
