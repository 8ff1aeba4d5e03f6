package cells_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/report/cells"
	"dmebench/result"
)

// Every field of a specification makes a cell what it is, or is known not to:
// a new field must not let two things become one sample.
func TestEveryFieldIsADimensionOrIsNot(t *testing.T) {
	apart := []string{"seed", "stall_after", "listen", "allow_mismatch"}
	base := result.Spec{Algorithm: "maekawa", Nodes: 7, Transport: "tcp", Workload: "saturate", CS: "100us"}
	known := make(map[string]bool)
	for _, d := range cells.Dimensions() {
		known[d.Name] = true
	}
	for i := range reflect.TypeFor[result.Spec]().NumField() {
		f := reflect.TypeFor[result.Spec]().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		changed := base
		switch v := reflect.ValueOf(&changed).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(3 * time.Second))
		case reflect.Uint64:
			v.SetUint(3)
		case reflect.Float64:
			v.SetFloat(3)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Map:
			v.Set(reflect.ValueOf(map[string]string{"quorum": "grid"}))
		default:
			t.Fatalf("%s has a kind that this test does not know: %s", name, v.Kind())
		}
		counts := cells.Key(changed) != cells.Key(base)
		if counts == slices.Contains(apart, name) || counts != known[name] {
			t.Errorf("%s: makes another cell: %v; a dimension: %v", name, counts, known[name])
		}
		if counts && cells.Key(changed, name) != cells.Key(base, name) {
			t.Errorf("%s counts although it is left out", name)
		}
		delete(known, name)
	}
	if len(known) > 0 {
		t.Errorf("dimensions that no specification has: %v", slices.Sorted(maps.Keys(known)))
	}
}

func TestSpecOfABareResult(t *testing.T) {
	s := cells.Spec(&result.Result{Algorithm: "raymond", Nodes: 3, Transport: "sim", Workload: "serial"})
	if s.Algorithm != "raymond" || s.Nodes != 3 || s.Transport != "sim" || s.Workload != "serial" {
		t.Errorf("%+v", s)
	}
}

// Large numbers are written so that they can be read as numbers again.
func TestNumbersOfDimensions(t *testing.T) {
	s := result.Spec{Requests: 12_000_000, TotalRate: 1e6, Rate: 0.25}
	for _, d := range cells.Dimensions() {
		want := map[string]string{"requests": "12000000", "total_rate": "1000000", "rate": "0.25", "duration": ""}[d.Name]
		if want != "" && d.Of(s) != want {
			t.Errorf("%s is %q, want %q", d.Name, d.Of(s), want)
		}
	}
}
