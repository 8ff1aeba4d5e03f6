package doctor

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestPage: docs/doctor.md tells of every check and of every key.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{InUse("").Check, "agent", "agents", "alike"}
	r, o := fit()
	for _, f := range r.judge(o) {
		names = append(names, f.Check)
	}
	hosts, paths := between("a", "b")
	for _, f := range NewReport(hosts, paths, 0).Between {
		names = append(names, f.Check)
	}
	for _, l := range []Level{OK, Note, Warning, Problem} {
		names = append(names, string(l))
	}
	names = append(names, jsonKeys(Report{}, Host{}, Finding{}, Path{}, Way{})...)
	for _, name := range names {
		if !strings.Contains(string(b), "`"+name+"`") {
			t.Errorf("docs/doctor.md does not tell of %s", name)
		}
	}
}

// jsonKeys returns the keys of structs.
func jsonKeys(values ...any) (keys []string) {
	for _, v := range values {
		for i := range reflect.TypeOf(v).NumField() {
			key, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			keys = append(keys, key)
		}
	}
	return keys
}
