package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dmebench/internal/atomicfile"
	"dmebench/report/units"
)

// resultsReading is where results will be kept.
type resultsReading struct {
	in     string // the folder, or the nearest one above it that is there
	err    error  // of writing a file there that survives a power cut
	took   time.Duration
	free   uint64 // bytes
	known  bool   // what is free
	kind   string // of the file system; "" where it is not known
	remote bool   // on another machine, or in a program of a user
}

// readResults tries to write where results will be kept.
func readResults(folder string) (r resultsReading) {
	r.in = folder
	for {
		info, err := os.Stat(r.in)
		if err == nil && info.IsDir() {
			break
		}
		if err == nil {
			r.err = fmt.Errorf("%s is no folder", r.in)
			return r
		}
		if !errors.Is(err, fs.ErrNotExist) {
			r.err = err
			return r
		}
		parent := filepath.Dir(r.in)
		if parent == r.in {
			r.err = err
			return r
		}
		r.in = parent
	}
	begin := time.Now()
	if r.err = atomicfile.Probe(r.in); r.err == nil {
		r.err = atomicfile.SyncDir(r.in)
	}
	r.took = time.Since(begin)
	r.free, r.kind, r.known = fileSystem(r.in)
	r.remote = slices.Contains([]string{"nfs", "cifs", "smb2", "fuse", "9p", "ceph"}, r.kind)
	return r
}

const (
	fullDisk   = 16 << 20 // bytes that are left
	littleDisk = 1 << 30

	slowSync = 100 * time.Millisecond
)

func (r resultsReading) judge(folder string) Finding {
	f := Finding{Check: "results"}
	if r.err != nil {
		f.Level, f.Found = Problem, fmt.Sprintf("%s cannot be written: %v", folder, r.err)
		f.Do = "choose another folder with --out"
		return f
	}
	f.Found = fmt.Sprintf("%s takes files, on the disk within %s", folder, units.Time(float64(r.took)))
	if r.kind != "" {
		f.Found += "; " + r.kind
	}
	if r.known {
		f.Found += fmt.Sprintf(", %s free", units.Bytes(r.free))
	}
	raise := func(level Level, do string) {
		if f.Do != "" {
			f.Do += "; "
		}
		f.Level, f.Do = max(f.Level, level), f.Do+do
	}
	switch {
	case r.known && r.free < fullDisk:
		raise(Problem, "make room")
	case r.known && r.free < littleDisk:
		raise(Warning, "make room")
	}
	switch {
	case r.kind == "tmpfs" || r.kind == "ramfs":
		raise(Warning, "results there are gone when the host restarts: choose a folder on a disk")
	case r.kind == "overlay":
		raise(Note, "results there are gone with the container: mount a volume")
	case r.remote:
		raise(Note, "each result is on another machine before the next run begins: choose a folder on a disk of this host if that is slow")
	}
	if r.took > slowSync {
		raise(Note, "each result waits so long for the disk: choose a faster one for sweeps of short runs")
	}
	return f
}
