package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dmebench/internal/atomicfile"
)

// The records of critical sections of a run lie beside its result: those of a store's
// runs in a folder, under names that are functions of the runs.
const (
	sectionsFolder    = "entries"
	sectionsExtension = ".entries.gz"
)

// sectionsOf returns where the records of a run of a store are.
func sectionsOf(store string, r Run) string {
	k := r.Key()
	text := fmt.Appendf(nil, "%q %q %q %d", k.Label, k.Transport, k.Workload, k.Repetition)
	for i, d := range dimensions {
		if value := k.Cell.values[i]; value != "" { // so that a new dimension renames nothing
			text = fmt.Appendf(text, " %s=%q", d.name, value)
		}
	}
	sum := sha256.Sum256(text)
	return filepath.Join(filepath.Dir(store), sectionsFolder, hex.EncodeToString(sum[:10])+sectionsExtension)
}

// SectionsBeside returns where the records of the run are whose result is a file.
func SectionsBeside(file string) string { return strings.TrimSuffix(file, ".json") + sectionsExtension }

func writeSections(path string, packed []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(path, packed)
}
