package experiment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
)

// writeFile writes a file as a whole or not at all.
func writeFile(path string, data []byte) error {
	if err := atomicfile.Write(path, data); err != nil {
		return refuse(exit.CantCreate, "cannot write %s: %w; make room or permit it, or choose another folder with --out; results that are there already stay", path, cause(err))
	}
	return nil
}

// probe shows that files can be written in dir.
func probe(dir string) error {
	if err := atomicfile.Probe(dir); err != nil {
		return unwritable(dir, err)
	}
	return nil
}

func unwritable(dir string, err error) error {
	return refuse(exit.CantCreate, "cannot write to %s: %w; choose another folder with --out", dir, cause(err))
}

// latestName is the link to the newest folder of an experiment.
const latestName = "latest"

// setLatest lets root/latest point to root/base. At every moment there is an
// old or a new link.
func setLatest(root, base string) error {
	link := filepath.Join(root, latestName)
	fresh := atomicfile.Temporary(root, "latest")
	os.Remove(fresh)
	err := os.Symlink(base, fresh)
	if err == nil {
		if err = os.Rename(fresh, link); err != nil {
			os.Remove(fresh)
		}
	}
	if err == nil {
		err = atomicfile.SyncDir(root)
	}
	if err != nil {
		return refuse(exit.CantCreate, "cannot link %s to %s: %w; remove %s, or choose another folder with --out", link, base, linkCause(err), link)
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
		return "", refuse(exit.Data, "%s is not a link to one of the folders beside it (%w); remove it", filepath.Join(root, latestName), cause(err))
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(root, base)
	}
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		return "", nil // the folder has been deleted
	}
	return base, nil
}
