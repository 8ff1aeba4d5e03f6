package environment

import (
	"maps"
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	base := map[string]string{
		"program": "v1.2.3 abc", "cores": "2", "memory": "4026824 kB", "kernel": "6.1", "load_average": "0.1 0.2 0.3", "cpu_affinity": "0,1",
	}
	host := func(changes map[string]string) map[string]string {
		facts := maps.Clone(base)
		maps.Copy(facts, changes)
		return facts
	}
	for _, c := range []struct {
		name  string
		hosts map[string]map[string]string
		want  []string
	}{
		{"nothing to compare", nil, nil},
		{"one host", map[string]map[string]string{"a": base}, nil},
		{"alike", map[string]map[string]string{
			"a": base, "b": host(map[string]string{"load_average": "9 9 9", "cpu_affinity": "2,3", "memory": "4026000 kB"}),
		}, nil},
		{"in order of weight", map[string]map[string]string{
			"a": base, "b": base, "c": host(map[string]string{"kernel": "6.8", "cores": "4", "program": "v1.2.4 def", "memory": "8053648 kB"}),
		}, []string{
			"program: v1.2.3 abc on a and b; v1.2.4 def on c",
			"cores: 2 on a and b; 4 on c",
			"memory: 4026824 kB on a and b; 8053648 kB on c",
			"kernel: 6.1 on a and b; 6.8 on c",
		}},
		{"only one host has it", map[string]map[string]string{"a": base, "b": host(map[string]string{"cpu_quota": "0.5"})},
			[]string{"cpu_quota: not known on a; 0.5 on b"}},
		{"a fact that nobody foresaw", map[string]map[string]string{
			"a": host(map[string]string{"zebra": "1"}), "b": host(map[string]string{"zebra": "2"}),
		}, []string{"zebra: 1 on a; 2 on b"}},
		{"many hosts", map[string]map[string]string{
			"a": base, "b": base, "c": base, "d": base, "e": base, "f": base, "x": host(map[string]string{"cores": "8"}),
		}, []string{"cores: 2 on a, b, c and 3 more; 8 on x"}},
	} {
		if got := Differences(c.hosts); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
