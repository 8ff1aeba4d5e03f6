package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// storeOf returns the path of a sweep's store.
func storeOf(s Summary) string { return filepath.Join(s.Dir, runs.StoreName) }

// lines returns the lines of a sweep's store.
func lines(t *testing.T, s Summary) []string {
	t.Helper()
	text, err := os.ReadFile(storeOf(s))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// rewrite replaces a sweep's store.
func rewrite(t *testing.T, s Summary, lines []string) {
	t.Helper()
	if err := os.WriteFile(storeOf(s), []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) *runs.Set {
	t.Helper()
	set, err := runs.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A sweep moves a line that cannot be read aside, says so, and measures its run again.
func TestSweepMeasuresDamagedResultsAgain(t *testing.T) {
	for _, test := range []struct{ name, line, says string }{
		{"cut off", `{"label": "`, "not a result: invalid character"},
		{"another version's", `{"result": {"schema_version": 7, "algorithm": "a", "nodes": 3, "status": "ok"}}`, "results of version 7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bench
			var progress strings.Builder
			opt := options(t, &b)
			opt.Progress = &progress
			s := sweep(t, small, opt)
			there := lines(t, s)
			damaged := slices.Clone(there)
			damaged[3] = test.line + "\n"
			rewrite(t, s, damaged)
			if set := read(t, s.Dir); len(set.Runs) != 7 || set.Missing() != 1 || len(set.Damaged) != 1 ||
				!strings.Contains(set.Warnings()[0], storeOf(s)+":4: "+test.says) {
				t.Fatalf("read %d runs, %d missing, warnings %q", len(set.Runs), set.Missing(), set.Warnings())
			}

			b.jobs = nil
			again := sweep(t, small, opt)
			if again.Ran != 1 || again.Missing() != 0 || again.Dir != s.Dir || len(b.jobs) != 1 {
				t.Errorf("%d runs: %+v", len(b.jobs), again)
			}
			if want := storeOf(s) + ":4: " + test.says; !strings.Contains(progress.String(), want) {
				t.Errorf("told %q, want %q", progress.String(), want)
			}
			aside, err := os.ReadFile(storeOf(s) + runs.SetAsideSuffix)
			if err != nil || string(aside) != test.line+"\n" {
				t.Errorf("moved aside: %q, %v", aside, err)
			}
			now := lines(t, s)
			want := append(slices.Delete(slices.Clone(there), 3, 4), there[3])
			if !slices.Equal(now, want) {
				t.Errorf("the store has\n%s\nwant\n%s", now, want)
			}
		})
	}
}

// pair is an experiment of two runs.
const pair = "schema_version: 1\nname: x\nalgorithms: [maekawa]\nnodes: [3]\nrepetitions: 2\n"

// step is how many bytes lie between two cuts: every one is tried in long tests.
func step() int {
	if testkit.Long() {
		return 1
	}
	return 37
}

// A sweep that was killed at any byte of its last line runs exactly what is
// missing then.
func TestSweepResumesAfterAnyByteOfARun(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, pair, opt)
	there := lines(t, s)
	whole := strings.Join(there, "")
	last := expand(t, pair).Cells[1]
	for cut := len(whole) - len(there[2]); cut < len(whole); cut += step() {
		rewrite(t, s, []string{whole[:cut]})
		os.Remove(storeOf(s) + runs.SetAsideSuffix)
		if cut == len(whole)-1 { // nothing lacks but the end of the line
			if set := read(t, s.Dir); len(set.Runs) != 2 || set.Damaged != nil {
				t.Fatalf("of a whole line without its end %d runs are read, %v damaged", len(set.Runs), set.Damaged)
			}
			b.jobs = nil
			if sweep(t, pair, opt); len(b.jobs) != 0 || strings.Join(lines(t, s), "") != whole {
				t.Fatalf("of a whole line without its end %d runs are made again, and the store is %s", len(b.jobs), lines(t, s))
			}
			continue
		}
		if set := read(t, s.Dir); len(set.Runs) != 1 || set.Missing() != 1 {
			t.Fatalf("cut at byte %d: read %d runs, %d missing", cut, len(set.Runs), set.Missing())
		}
		b.jobs = nil
		again := sweep(t, pair, opt)
		if len(b.jobs) != 1 || !reflect.DeepEqual(b.jobs[0].Spec, last.Spec) || again.Dir != s.Dir || again.Found != 1 {
			t.Fatalf("cut at byte %d: ran %d, %+v", cut, len(b.jobs), again)
		}
		if now := strings.Join(lines(t, s), ""); now != whole {
			t.Fatalf("cut at byte %d: %s, want %s", cut, now, whole)
		}
		torn := whole[len(whole)-len(there[2]) : cut]
		if aside, _ := os.ReadFile(storeOf(s) + runs.SetAsideSuffix); strings.TrimSuffix(string(aside), "\n") != torn {
			t.Fatalf("cut at byte %d: %q is kept, want %q", cut, aside, torn)
		}
	}
}

// A sweep that was killed at any byte of its first line starts over.
func TestSweepResumesAfterAnyByteOfTheHeader(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, pair, opt)
	header := lines(t, s)[0]
	for cut := 0; cut < len(header); cut += step() {
		rewrite(t, s, []string{header[:cut]})
		if _, err := runs.Read(s.Dir); !errors.Is(err, runs.ErrNoHeader) {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		again := sweep(t, pair, opt)
		if again.Ran != 2 || again.Dir == s.Dir {
			t.Fatalf("cut at byte %d: %+v", cut, again)
		}
		s = again
	}
}

func TestSweepRefusesAnUnwritablePlace(t *testing.T) {
	var b bench
	opt := options(t, &b)
	// Not a folder without permissions: those do not bind root.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	opt.Out = file
	_, err := Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, CannotWrite, "cannot write to "+filepath.Join(file, "small")+": not a directory; choose another folder with --out")
	opt.Out = filepath.Join(file, "below")
	_, err = Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, CannotWrite, "choose another folder with --out")
	if len(b.jobs) != 0 {
		t.Errorf("%d runs before the refusal", len(b.jobs))
	}
}

func TestSweepRefusesAFolderInTheLinksPlace(t *testing.T) {
	var b bench
	opt := options(t, &b)
	if err := os.MkdirAll(filepath.Join(opt.Out, "small", "latest"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, BadFile, "latest is not a link")
	if len(b.jobs) != 0 {
		t.Errorf("%d runs before the refusal", len(b.jobs))
	}
}

func wantNoTemporaries(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(path, fileio.Temporary(filepath.Dir(path), "")) {
			t.Errorf("%s remains", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What a killed sweep has left half-written does not stay for ever.
func TestSweepTidiesUp(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, small, opt)
	if err := os.WriteFile(fileio.Temporary(filepath.Dir(s.Dir), "123"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	read(t, filepath.Dir(s.Dir))
	sweep(t, small, opt)
	wantNoTemporaries(t, opt.Out)
}

func TestTwoSweepsAtOnceAreRefused(t *testing.T) {
	var first, second bench
	opt := options(t, &first)
	other := opt
	other.Run = second.run
	first.answer = func(i int, job *run.Job) (*runs.Result, error) {
		if i == 0 {
			_, err := Sweep(context.Background(), parse(t, small), other)
			wantRefused(t, err, Unavailable, "another sweep (process ", filepath.Join(opt.Out, "small"))
			// Another experiment in the same place is none of its business.
			if _, err := Sweep(context.Background(), parse(t, strings.Replace(small, "name: small", "name: other", 1)), other); err != nil {
				t.Error(err)
			}
		}
		return resultOf(job, runs.OK), nil
	}
	sweep(t, small, opt)
	if len(second.jobs) != 8 {
		t.Errorf("%d runs; want the 8 of the other experiment", len(second.jobs))
	}
	// The lock ends with its sweep.
	if s := sweep(t, small, other); s.Found != 8 {
		t.Errorf("found %d", s.Found)
	}
}

// A folder that somebody has deleted does not keep a sweep from starting over.
func TestDanglingLatest(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, small, opt)
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Read(filepath.Join(opt.Out, "small")); !errors.Is(err, runs.ErrNone) {
		t.Errorf("%v; want that there are no results", err)
	}
	if again := sweep(t, small, opt); again.Ran != 8 {
		t.Errorf("ran %d", again.Ran)
	}
}
