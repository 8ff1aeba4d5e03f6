package experiment

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/internal/run"
	"dmebench/result"
)

func TestSweepRefusesCorruptedResults(t *testing.T) {
	for _, test := range []struct{ name, content, says string }{
		{"empty", "", "not a result (unexpected end of JSON input)"},
		{"cut off", `{"schema_version": 1, "hash": "`, "not a result (unexpected end of JSON input)"},
		{"another cell's", `{"schema_version": 1, "hash": "0000000000000000", "result": {"status": "ok"}}`, `not a result of this cell, but of "0000000000000000"`},
		{"another version's", `{"schema_version": 7}`, "not a result of version 1"},
		{"without a result", `{"schema_version": 1, "hash": "HASH"}`, "not a result (it has no known status)"},
		{"unknown status", `{"schema_version": 1, "hash": "HASH", "result": {"status": "fine"}}`, "not a result (it has no known status)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bench
			opt := options(t, &b)
			s := sweep(t, small, opt)
			hash := expand(t, small).Cells[2].Hash
			path := cellPath(s.Dir, hash)
			if err := os.WriteFile(path, []byte(strings.Replace(test.content, "HASH", hash, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			says := path + ": " + test.says + "; delete it, and the sweep runs that cell again"

			_, err := Sweep(t.Context(), parse(t, small), opt)
			wantExit(t, err, exit.Data, says)
			_, err = Open(s.Dir)
			wantExit(t, err, exit.Data, says)
			if len(b.jobs) != 8 {
				t.Errorf("%d runs; want none after the 8 of the first sweep", len(b.jobs))
			}

			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if s := sweep(t, small, opt); s.Ran != 1 || s.Missing() != 0 {
				t.Errorf("as told, the file was deleted; %+v", s)
			}
		})
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
	wantExit(t, err, exit.CantCreate, "cannot write to "+filepath.Join(file, "small")+": not a directory; choose another folder with --out")
	opt.Out = filepath.Join(file, "below")
	_, err = Sweep(t.Context(), parse(t, small), opt)
	wantExit(t, err, exit.CantCreate, "choose another folder with --out")
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
	wantExit(t, err, exit.Data, "latest is not a link")
	if len(b.jobs) != 0 {
		t.Errorf("%d runs before the refusal", len(b.jobs))
	}
}

// When a result cannot be written the sweep ends, nothing half-written remains,
// and what is finished stands.
func TestUnwritableResultEndsTheSweep(t *testing.T) {
	var dir string
	b := bench{answer: func(i int, job *run.Job) (*result.Result, error) {
		if i == 2 {
			// A folder that is in the way of the rename.
			if err := os.MkdirAll(filepath.Join(cellPath(dir, expand(t, small).Cells[2].Hash), "x"), 0o755); err != nil {
				t.Error(err)
			}
		}
		return resultOf(job, result.OK), nil
	}}
	opt := options(t, &b)
	dir = filepath.Join(opt.Out, "small", "2026-11-20T12-30-06Z")
	s, err := Sweep(t.Context(), parse(t, small), opt)
	wantExit(t, err, exit.CantCreate, "cannot write "+dir, "--out")
	if s.Ran != 2 || len(b.jobs) != 3 {
		t.Errorf("%d finished, %d begun; want 2 and 3", s.Ran, len(b.jobs))
	}
	wantNoTemporaries(t, opt.Out)
}

func wantNoTemporaries(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(path, atomicfile.Temporary(filepath.Dir(path), "")) {
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
	for _, dir := range []string{filepath.Dir(s.Dir), s.Dir, filepath.Join(s.Dir, "cells")} {
		if err := os.WriteFile(atomicfile.Temporary(dir, "123"), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(s.Dir); err != nil {
		t.Errorf("half-written files disturb the reader: %v", err)
	}
	sweep(t, small, opt)
	wantNoTemporaries(t, opt.Out)
}

func TestResultWithoutJSONFormIsAnError(t *testing.T) {
	nan := math.NaN()
	b := bench{answer: func(_ int, job *run.Job) (*result.Result, error) {
		r := resultOf(job, result.OK)
		r.T = &nan
		return r, nil
	}}
	if _, err := Sweep(t.Context(), parse(t, small), options(t, &b)); err == nil || !strings.Contains(err.Error(), "no JSON form") {
		t.Errorf("error %v", err)
	}
}

func TestTwoSweepsAtOnceAreRefused(t *testing.T) {
	var first, second bench
	opt := options(t, &first)
	other := opt
	other.Run = second.run
	first.answer = func(i int, job *run.Job) (*result.Result, error) {
		if i == 0 {
			_, err := Sweep(context.Background(), parse(t, small), other)
			wantExit(t, err, exit.Unavailable, "another sweep (process ", filepath.Join(opt.Out, "small"))
			// Another experiment in the same place is none of its business.
			if _, err := Sweep(context.Background(), parse(t, strings.Replace(small, "name: small", "name: other", 1)), other); err != nil {
				t.Error(err)
			}
		}
		return resultOf(job, result.OK), nil
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

func TestOpenSaysWhatIsMissing(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, small, opt)
	_, err := Open(filepath.Join(opt.Out, "none"))
	wantExit(t, err, exit.NoInput, "there is no folder", "dmebench sweep")
	_, err = Open(filepath.Join(s.Dir, "spec.yaml"))
	wantExit(t, err, exit.NoInput, "is a file")
	_, err = Open(opt.Out)
	wantExit(t, err, exit.NoInput, "holds no results; name one of "+filepath.Join(opt.Out, "small"))
	_, err = Open(t.TempDir())
	wantExit(t, err, exit.NoInput, "holds no results; name a folder that")

	if err := os.Remove(filepath.Join(s.Dir, "plan.json")); err != nil {
		t.Fatal(err)
	}
	_, err = Open(s.Dir)
	wantExit(t, err, exit.NoInput, "plan.json is missing", "--fresh")
	if err := os.WriteFile(filepath.Join(s.Dir, "plan.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Open(s.Dir)
	wantExit(t, err, exit.Data, "plan.json: unexpected end of JSON input")
}

// A folder that somebody has deleted does not keep a sweep from starting anew.
func TestDanglingLatest(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, small, opt)
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(opt.Out, "small"))
	wantExit(t, err, exit.NoInput, "holds no results")
	if again := sweep(t, small, opt); again.Ran != 8 {
		t.Errorf("ran %d", again.Ran)
	}
}

// A failed run that succeeds later leaves one result.
func TestResultReplacesAFailedOne(t *testing.T) {
	b := bench{answer: func(_ int, job *run.Job) (*result.Result, error) { return resultOf(job, result.Failed), nil }}
	opt := options(t, &b)
	sweep(t, small, opt)
	b.answer = nil
	s := sweep(t, small, opt)
	files, err := os.ReadDir(filepath.Join(s.Dir, "cells"))
	if err != nil || len(files) != 8 || s.ExitCode() != exit.Held {
		t.Errorf("%d files (%v), exit %d", len(files), err, s.ExitCode())
	}
	var text bytes.Buffer
	for _, f := range files {
		b, _ := os.ReadFile(filepath.Join(s.Dir, "cells", f.Name()))
		text.Write(b)
	}
	if strings.Contains(text.String(), `"failed"`) {
		t.Error("a failed result remains")
	}
}
