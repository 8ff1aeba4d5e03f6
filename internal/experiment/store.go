package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/result"
)

// Names in the folder of an experiment.
const (
	latestName = "latest" // the link to its newest sweep
	lockName   = ".lock"
	folderTime = "2006-01-02T15-04-05Z"
)

// open returns the store to write to: the latest one if it continues this plan,
// else a new one.
func open(root string, plan *Plan, opt Options) (*result.Store, error) {
	dir, err := latest(root)
	if err != nil {
		return nil, err
	}
	if dir != "" && !opt.Fresh {
		store, err := result.OpenStore(filepath.Join(dir, result.StoreName))
		why := ""
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, result.ErrNoHeader):
			why = "it holds no sweep that could be continued"
		case err != nil:
			return nil, refuse(exit.Data, "%w", err)
		default:
			if why = changed(store.Header, plan); why == "" {
				noteEnvironment(dir, store.Header.Environment, opt)
				return store, nil
			}
			store.Close()
		}
		fmt.Fprintf(opt.Progress, "%s is left as it is: %s\n", dir, why)
	}
	return create(root, plan, opt)
}

// changed says why results of one plan are not those of another; "" where they
// are.
func changed(h result.Header, p *Plan) string {
	switch {
	case h.File != string(p.File.Text):
		return "the experiment file has changed"
	case h.Plan != p.digest():
		return "the file means something else now: the program, or a file that it names, has changed"
	}
	return ""
}

// momentary is the property of an environment that never is the same twice.
const momentary = "load_average"

// noteEnvironment says so where results of two environments come together:
// whether they may be compared is for a person to judge.
func noteEnvironment(dir string, before map[string]string, opt Options) {
	var differ []string
	for _, m := range []map[string]string{before, opt.Environment} {
		for key := range m {
			if before[key] != opt.Environment[key] && key != momentary && !slices.Contains(differ, key) {
				differ = append(differ, key)
			}
		}
	}
	slices.Sort(differ)
	if len(differ) > 0 {
		fmt.Fprintf(opt.Progress, "warning: %s was begun in another environment (%s); with --fresh all runs share one\n", dir, strings.Join(differ, ", "))
	}
}

// create makes a new folder below root with a store, and lets latest point to
// it. On error nothing remains of it.
func create(root string, p *Plan, opt Options) (*result.Store, error) {
	now := opt.Now()
	base, err := newFolder(root, now)
	dir := filepath.Join(root, base)
	if err != nil {
		return nil, refuse(exit.CantCreate, "cannot make the folder %s: %w; choose another one with --out", dir, cause(err))
	}
	store, err := result.CreateStore(filepath.Join(dir, result.StoreName), p.header(now, opt.Environment))
	if err != nil {
		err = unwritable(dir, err)
	} else if err = setLatest(root, base); err != nil {
		store.Close()
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return store, nil
}

// newFolder makes a folder named by the time.
func newFolder(root string, now time.Time) (base string, err error) {
	stamp := now.UTC().Format(folderTime)
	base = stamp
	for n := 2; ; n++ {
		if err = os.Mkdir(filepath.Join(root, base), 0o755); !errors.Is(err, fs.ErrExist) {
			return base, err
		}
		base = fmt.Sprintf("%s-%d", stamp, n) // a second one within a second
	}
}

func unwritable(dir string, err error) error {
	return refuse(exit.CantCreate, "cannot write to %s: %w; choose another folder with --out", dir, cause(err))
}

// setLatest lets root/latest point to root/base. At every moment there is an
// old or a new link.
func setLatest(root, base string) error {
	link := filepath.Join(root, latestName)
	fresh := atomicfile.Temporary(root, latestName)
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
		return refuse(exit.CantCreate, "cannot link %s to %s: %w; remove %s, or choose another folder with --out", link, base, cause(err), link)
	}
	return nil
}

// latest returns the folder that root/latest points to, "" where there is none.
func latest(root string) (string, error) {
	link := filepath.Join(root, latestName)
	base, err := os.Readlink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", refuse(exit.Data, "%s is not a link to one of the folders beside it (%w); remove it", link, cause(err))
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(root, base)
	}
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		return "", nil // the folder has been deleted
	}
	return base, nil
}
