package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"dmebench/internal/foreign"
	"dmebench/result"
)

// noteProgram notes the contents of the files that a command names whose processes
// are nodes: results are continued only while these are the same. What they use in
// turn is not known.
func (p *Plan) noteProgram(e result.Entry) {
	if !foreign.Is(e.Name) {
		return
	}
	words, err := foreign.Split(e.Set[foreign.CommandOption])
	if err != nil {
		return // which is told elsewhere
	}
	for _, name := range words {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if sum, err := digestFile(name); err == nil {
			p.Files[name] = sum
		}
	}
}

// digestFile is digest of a file that may be large.
func digestFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
