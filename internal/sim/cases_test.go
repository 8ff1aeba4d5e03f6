package sim

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/toys"
	"dmebench/runs"
)

// What comes of small simulations: a specification in JSON, the lines of a trace, and
// faults. A job that is refused says why.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	algorithms := run.Catalog(slices.Concat(toys.All(), algorithms.All(), []*dme.Algorithm{watchfulAlgorithm()}))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			testkit.Cases(t, file, func(t *testing.T, input []string) string {
				spec, trace := runs.Spec{Transport: runs.Sim}, ""
				for _, line := range input {
					switch what, rest, _ := strings.Cut(line, " "); what {
					case "spec":
						testkit.Set(t, &spec, "", rest)
					case "fault":
						spec.Faults = append(spec.Faults, rest)
					case "trace": // with T = 1 ms and critical sections of 1 ms
						trace = strings.ReplaceAll(rest, " ", "\n") + "\n"
						spec.Workload, spec.CS, spec.Set = "trace", "1ms", map[string]string{"file": "trace.csv"}
					default:
						t.Fatalf("what is %q?", line)
					}
				}
				job, err := run.Resolve(spec, algorithms, func(string) ([]byte, error) { return []byte(trace), nil })
				if err != nil {
					return "refused: " + err.Error()
				}
				r, err := Run(context.Background(), job)
				if err != nil {
					return "error: " + err.Error()
				}
				r.Spec, r.Series, r.Histograms, r.Environment = runs.Spec{}, nil, runs.Histograms{}, nil
				lines := testkit.Lines(t, r, 9)
				return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
					what, _, _ := strings.Cut(line, " ")
					return what == "spec.stall_after" || strings.Contains("algorithm nodes transport workload seed schema_version safety.method", what)
				}), "\n")
			})
		})
	}
}
