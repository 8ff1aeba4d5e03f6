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

	"dmebench/internal/platform/fileio"
	"dmebench/runs"
)

// Names in the folder of an experiment.
const (
	latestName = "latest" // the link to its newest sweep
	lockName   = ".lock"
	folderTime = "2006-01-02T15-04-05Z"
)

// previous returns the results of the latest sweep, or why they cannot be continued.
func previous(root string, plan *Plan, opt Options) (there *runs.Set, why string, err error) {
	dir, err := latest(root)
	if err != nil || dir == "" || opt.Fresh {
		return nil, "", err
	}
	there, err = runs.Read(filepath.Join(dir, runs.StoreName))
	switch {
	case errors.Is(err, runs.ErrNone), errors.Is(err, runs.ErrNoHeader):
		why = "it holds no sweep that could be continued"
	case err != nil:
		return nil, "", refuse(BadFile, "%w", err)
	case there.Header.File != string(plan.File.Text):
		why = "the experiment file has changed"
	case there.Header.Plan != plan.digest():
		why = "the file means something else now: the program, or a file that it names, has changed"
	default:
		return there, "", nil
	}
	return nil, dir + " is left as it is: " + why, nil
}

// open returns the store to write to: that of the previous sweep, or a new one.
func open(root string, plan *Plan, opt Options) (*runs.Store, error) {
	there, why, err := previous(root, plan, opt)
	if err != nil {
		return nil, err
	}
	if there == nil {
		if why != "" {
			fmt.Fprintln(opt.Progress, why)
		}
		return create(root, plan, opt)
	}
	noteEnvironment(there.Name(), there.Header.Environment, opt)
	store, err := runs.OpenStore(there.Path)
	if err != nil {
		return nil, unwritable(there.Name(), err)
	}
	for _, text := range store.SetAside() {
		fmt.Fprintln(opt.Progress, "warning:", text)
	}
	return store, nil
}

// momentary is the property of an environment that never is the same twice.
const momentary = "load_average"

// noteEnvironment says so if results of two environments come together: whether they may be
// compared is for a person to judge.
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
		fmt.Fprintf(opt.Progress, "warning: %s was begun in another environment (%s); with --fresh all runs share one\n",
			dir, strings.Join(differ, ", "))
	}
}

// create makes a new folder with a store, the latest. On error nothing remains of it.
func create(root string, p *Plan, opt Options) (*runs.Store, error) {
	now := opt.Now()
	base, err := newFolder(root, now)
	dir := filepath.Join(root, base)
	if err != nil {
		return nil, refuse(CannotWrite, "cannot make the folder %s: %w; choose another one with --out", dir, cause(err))
	}
	store, err := runs.CreateStore(filepath.Join(dir, runs.StoreName), p.header(now, opt.Environment))
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
	return refuse(CannotWrite, "cannot write to %s: %w; choose another folder with --out", dir, cause(err))
}

// setLatest lets root/latest point to root/base. There is a link at every moment.
func setLatest(root, base string) error {
	link := filepath.Join(root, latestName)
	fresh := fileio.Temporary(root, latestName)
	os.Remove(fresh)
	err := os.Symlink(base, fresh)
	if err == nil {
		if err = os.Rename(fresh, link); err != nil {
			os.Remove(fresh)
		}
	}
	if err == nil {
		err = fileio.SyncDir(root)
	}
	if err != nil {
		return refuse(CannotWrite, "cannot link %s to %s: %w; remove %s, or choose another folder with --out",
			link, base, cause(err), link)
	}
	return nil
}

// latest returns the folder that root/latest points to, "" if there is none.
func latest(root string) (string, error) {
	link := filepath.Join(root, latestName)
	base, err := os.Readlink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", refuse(BadFile, "%s is not a link to one of the folders beside it (%w); remove it", link, cause(err))
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(root, base)
	}
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		return "", nil // the folder has been deleted
	}
	return base, nil
}
