package report

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeFile replaces the file at path by data in one step: whoever reads the
// path finds the old bytes or the new ones, also after a crash.
func writeFile(path string, data []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("report: write %s: %w; is its folder there and writable?", path, err)
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
			err = fmt.Errorf("report: write %s: %w; is there room on the disk?", path, err)
		}
	}()
	if _, err := temp.Write(data); err != nil {
		return err
	}
	// CreateTemp makes files for their owner only; a report is to be read.
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
