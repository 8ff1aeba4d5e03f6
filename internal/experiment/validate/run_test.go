package validate_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/claims"

	"dmebench/algorithms"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawalatoken"
	"dmebench/internal/experiment/validate"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/runs"
)

func TestRefusals(t *testing.T) {
	started := func(context.Context, *run.Job) (*runs.Result, error) {
		t.Error("something was run")
		return nil, errors.New("no")
	}
	for _, x := range []struct {
		name string
		opt  validate.Options
		says []string
	}{
		{"unknown algorithms", validate.Options{Mode: validate.Quick, Algorithms: []string{"lamport", "nonsense", "raymund"}},
			[]string{`"nonsense"`, `"raymund"`, "'dmebench list' shows what there is", "did you mean 'raymond'?"}},
		{"unknown network", validate.Options{Mode: validate.Quick, Transport: "pigeon"}, []string{`"pigeon"`, "tcp"}},
		{"unknown mode", validate.Options{Mode: "slow"}, []string{`"slow"`}},
	} {
		x.opt.Catalog, x.opt.Run = algorithms.All(), started
		d, err := validate.Run(context.Background(), x.opt)
		if d != nil || err == nil {
			t.Errorf("%s: not refused", x.name)
			continue
		}
		for _, text := range x.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %s", x.name, err, text)
			}
		}
	}
}

func TestKnownWrongTextsAreControls(t *testing.T) {
	d, err := validate.Run(context.Background(), validate.Options{
		Catalog: algorithms.All(), Algorithms: []string{"centralized"}, Mode: validate.Quick, Run: sim.Run, Parallel: 2, Budget: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Algorithms) != 1 || len(d.Controls) < 5 {
		t.Errorf("validated %v, controls %v", d.Algorithms, d.Controls)
	}
	for _, name := range d.Controls {
		if !strings.HasSuffix(name, "-as-published") {
			t.Errorf("%s is left out", name)
		}
	}
}

// The clock of the budget stands still in Run and moves with every look at it.
func TestWhenTheTimeRunsOut(t *testing.T) {
	var looks, made atomic.Int64
	d, err := validate.Run(context.Background(), validate.Options{
		Catalog: run.Catalog{centralized.Algorithm()}, Mode: validate.Quick, Budget: 20 * time.Second,
		Now: func() time.Time { return time.Unix(looks.Add(1), 0) },
		Run: func(ctx context.Context, j *run.Job) (*runs.Result, error) {
			made.Add(1)
			return sim.Run(ctx, j)
		},
	})
	if err != nil || !d.Complete {
		t.Fatalf("a budget is no interruption: %v", err)
	}
	if made.Load() == 0 || made.Load() > 20 || d.Runs != int(made.Load()) || d.RunsLeftOut == 0 {
		t.Errorf("%d runs, %d in the document, %d left out", made.Load(), d.Runs, d.RunsLeftOut)
	}
	if d.Counts.Claims != len(d.Claims) || d.Counts.NotRun == 0 {
		t.Errorf("counts %+v", d.Counts)
	}
	for _, v := range d.Claims {
		if v.Verdict == claims.NotRun && !strings.Contains(v.Text, "--quick") && !strings.Contains(v.Text, "no run") {
			t.Errorf("%s %s does not say why it was not run: %s", v.Quantity, v.Formula, v.Text)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var made atomic.Int64
	d, err := validate.Run(ctx, validate.Options{
		Catalog: run.Catalog{ricartagrawalatoken.Algorithm()}, Mode: validate.Quick, Parallel: 2,
		Run: func(ctx context.Context, j *run.Job) (*runs.Result, error) {
			if made.Add(1) == 30 {
				cancel()
			}
			return sim.Run(ctx, j)
		},
	})
	if !errors.Is(err, context.Canceled) || d == nil || d.Complete {
		t.Fatalf("error %v, document %+v", err, d)
	}
	if d.Runs == 0 || d.Runs > 31 || len(d.Claims) == 0 {
		t.Errorf("%d runs, %d claims: what was found until then is to be kept", d.Runs, len(d.Claims))
	}
}

// The same options and seed give the same verdicts, however many runs are
// carried out at a time; and the document survives its JSON form.
func TestVerdictsFollowFromTheOptions(t *testing.T) {
	var documents []*claims.Document
	for _, parallel := range []int{1, 3} {
		d, err := validate.Run(context.Background(), validate.Options{
			Catalog: run.Catalog{ricartagrawalatoken.Algorithm()}, Mode: validate.Quick, Run: sim.Run, Parallel: parallel, Budget: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Started, d.ElapsedSeconds = "", 0
		documents = append(documents, d)
	}
	if !reflect.DeepEqual(documents[0], documents[1]) {
		t.Error("the number of runs at a time changes the document")
	}
	b, err := json.Marshal(documents[0])
	if err != nil {
		t.Fatal(err)
	}
	var again claims.Document
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&again, documents[0]) {
		t.Errorf("read back, the document differs:\n%+v\n%+v", &again, documents[0])
	}
}

// An interrupted validation goes on where it was, and comes to the same verdicts
// as one that was not.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	var made atomic.Int64
	once := func(limit int64, store *runs.Store) (*claims.Document, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		made.Store(0)
		return validate.Run(ctx, validate.Options{
			Catalog: run.Catalog{ricartagrawalatoken.Algorithm()}, Mode: validate.Quick, Budget: time.Hour, Store: store,
			Run: func(ctx context.Context, j *run.Job) (*runs.Result, error) {
				if made.Add(1) == limit {
					cancel()
				}
				return sim.Run(ctx, j)
			},
		})
	}
	whole, err := once(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := runs.CreateStore(path, runs.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := once(30, store); !errors.Is(err, context.Canceled) {
		t.Fatalf("not interrupted: %v", err)
	}
	store.Close()
	if store, err = runs.OpenStore(path); err != nil {
		t.Fatal(err)
	}
	there := len(store.Runs)
	resumed, err := once(0, store)
	if err != nil || there < 25 || int(made.Load())+there != whole.Runs {
		t.Errorf("%d runs of %d were there, and %d were made: %v", there, whole.Runs, made.Load(), err)
	}
	for i, v := range whole.Claims {
		if again := resumed.Claims[i]; again.Text != v.Text || again.Runs != v.Runs {
			t.Errorf("%s: %s (%d runs), and resumed %s (%d runs)", v.ID, v.Text, v.Runs, again.Text, again.Runs)
		}
	}
	store.Close()
	if _, err := once(0, store); err != nil {
		t.Errorf("nothing was missing, and yet %v", err)
	}
	empty, err := runs.CreateStore(path+"2", runs.Header{})
	if err != nil {
		t.Fatal(err)
	}
	empty.Close()
	if d, err := once(0, empty); err == nil || d.Complete {
		t.Error("results that cannot be kept are no fault")
	}
}

func TestClaimsAreChosenByTheirIDs(t *testing.T) {
	for asked, want := range map[string]int{
		"centralized/violations/any/exact": 1, "centralized/messages-per-cs": 2, "centralized/messages-per": 0, "nobody/x": 0,
	} {
		var looks atomic.Int64 // at a clock that stands still in a run: the cheap ones are enough
		d, err := validate.Run(context.Background(), validate.Options{
			Catalog: algorithms.All(), Claims: []string{asked}, Mode: validate.Quick, Run: sim.Run, Parallel: 2,
			Now: func() time.Time { return time.Unix(looks.Add(1), 0) }, Budget: 150 * time.Second,
		})
		if want == 0 {
			if err == nil || !strings.Contains(err.Error(), asked) {
				t.Errorf("%s: %v", asked, err)
			}
			continue
		}
		if err != nil || len(d.Claims) != want || len(d.Algorithms) != 1 {
			t.Errorf("%s: %d claims, want %d: %v", asked, len(d.Claims), want, err)
			continue
		}
		for _, v := range d.Claims {
			if v.Runs == 0 || !strings.HasPrefix(v.ID, asked) {
				t.Errorf("%s: %s is judged by %d runs", asked, v.ID, v.Runs)
			}
		}
	}
}
