package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
)

// Program says which program a process runs, so that processes of one run can be
// told from those of another build.
type Program struct {
	Version string `json:"version,omitempty"` // of the module, for people
	Commit  string `json:"commit,omitempty"`  // that it was built from; "" where that is not known, or not all
	SHA256  string `json:"sha256,omitempty"`  // of the file that is executed, in hexadecimal
}

// Same reports whether two programs are of one build: of one commit, whatever the
// systems are that they were built for. Where a commit is not known, they are only if
// their files are the same.
func (p Program) Same(q Program) bool {
	if p.Commit != "" && q.Commit != "" {
		return p.Version == q.Version && p.Commit == q.Commit
	}
	return p.SHA256 != "" && p.SHA256 == q.SHA256
}

// String names the program for people.
func (p Program) String() string {
	var parts []string
	if p.Version != "" {
		parts = append(parts, p.Version)
	}
	if p.Commit != "" {
		parts = append(parts, "commit "+p.Commit[:min(12, len(p.Commit))])
	}
	if p.SHA256 != "" {
		parts = append(parts, "sha256 "+p.SHA256[:min(12, len(p.SHA256))])
	}
	if parts == nil {
		return "an unknown build"
	}
	return strings.Join(parts, ", ")
}

// ThisProgram says which program this process runs.
func ThisProgram() (Program, error) { return thisProgram() }

var thisProgram = sync.OnceValues(func() (p Program, err error) {
	p = ThisBuild().program()
	p.SHA256, err = executableSum()
	return p, err
})

func executableSum() (string, error) {
	name := "/proc/self/exe" // of what is executed, also where the file was replaced meanwhile
	if runtime.GOOS != "linux" {
		var err error
		if name, err = os.Executable(); err != nil {
			return "", fmt.Errorf("cannot find this program: %w", err)
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot read this program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot read this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
