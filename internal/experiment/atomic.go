package experiment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dmebench/internal/run"
)

// temporary marks files that are being written. What a killed process leaves of
// them is removed by the next sweep.
const temporary = ".tmp-"

// writeFile writes a file so that it is either there as a whole, on the disk,
// or not at all.
func writeFile(path string, data []byte) error {
	err := writeThrough(path, data)
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return refuse(run.ExitCantCreate, "cannot write %s: %w; make room or permit it, or choose another folder with --out; results that are there already stay", path, cause(err))
	}
	return nil
}

func writeThrough(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // again, where Close itself failed: harmless
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	// Some file systems report a full disk only here.
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// probe shows that files can be written in dir.
func probe(dir string) error {
	path := filepath.Join(dir, temporary+"probe")
	err := writeThrough(path, []byte("dmebench\n"))
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return unwritable(dir, err)
	}
	return nil
}

func unwritable(dir string, err error) error {
	return refuse(run.ExitCantCreate, "cannot write to %s: %w; choose another folder with --out", dir, cause(err))
}

// sweepTemporaries removes what a killed process has left half-written.
func sweepTemporaries(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// latestName is the link to the newest folder of an experiment.
const latestName = "latest"

// setLatest lets root/latest point to root/base. At every moment there is an
// old or a new link.
func setLatest(root, base string) error {
	link := filepath.Join(root, latestName)
	fresh := filepath.Join(root, temporary+"latest")
	os.Remove(fresh)
	err := os.Symlink(base, fresh)
	if err == nil {
		if err = os.Rename(fresh, link); err != nil {
			os.Remove(fresh)
		}
	}
	if err == nil {
		err = syncDir(root)
	}
	if err != nil {
		return refuse(run.ExitCantCreate, "cannot link %s to %s: %w; remove %s, or choose another folder with --out", link, base, linkCause(err), link)
	}
	return nil
}

func linkCause(err error) error {
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return cause(err)
}

// latest returns the folder that root/latest points to, "" where there is none.
func latest(root string) (string, error) {
	base, err := os.Readlink(filepath.Join(root, latestName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", refuse(run.ExitData, "%s is not a link to one of the folders beside it (%w); remove it", filepath.Join(root, latestName), cause(err))
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(root, base)
	}
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		return "", nil // the folder has been deleted
	}
	return base, nil
}
