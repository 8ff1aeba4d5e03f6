package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
)

func TestDescribeKnowsTheProgramAndTheMachine(t *testing.T) {
	e := Describe()
	if e["go"] != runtime.Version() || e["os"] != runtime.GOOS {
		t.Errorf("go %q on %q", e["go"], e["os"])
	}
	for _, key := range []string{"arch", "cores", "gomaxprocs", "kernel"} {
		if e[key] == "" {
			t.Errorf("%s is not known", key)
		}
	}
	for key, value := range e {
		if value == "" {
			t.Errorf("%s is there but empty", key)
		}
	}
}

func TestBuild(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	info := func(settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}, Settings: settings}
	}
	at := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	for _, x := range []struct {
		name    string
		info    *debug.BuildInfo
		stamp   string
		want    Build
		compare Program
		program string
	}{
		{"clean", info(at, debug.BuildSetting{Key: "vcs.modified", Value: "false"},
			debug.BuildSetting{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}), "",
			Build{"v1.2.3", commit, "2026-01-02T03:04:05Z", Clean, "go1.26"},
			Program{Version: "v1.2.3", Commit: commit}, "v1.2.3 0123456789ab"},
		{"changed after the commit", info(at, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "",
			Build{"v1.2.3", commit, "", Modified, "go1.26"},
			Program{Version: "v1.2.3"}, "v1.2.3 0123456789ab (modified)"},
		{"nothing noted", new(debug.BuildInfo), "", Build{"(devel)", Unknown, "", TreeUnknown, ""},
			Program{Version: "(devel)"}, "(devel)"},
		{"stamped", info(), "v2.0.0," + commit + ",2026-01-02T03:04:05Z,clean",
			Build{"v2.0.0", commit, "2026-01-02T03:04:05Z", Clean, "go1.26"},
			Program{Version: "v2.0.0", Commit: commit}, "v2.0.0 0123456789ab"},
	} {
		got := buildOf(x.info, x.stamp)
		if got != x.want || got.program() != x.compare {
			t.Errorf("%s: %+v, %+v", x.name, got, got.program())
		}
		facts := got.facts()
		if facts["program"] != x.program || facts["commit"] != x.want.Commit || facts["tree"] != string(x.want.Tree) {
			t.Errorf("%s: %v", x.name, facts)
		}
	}
}

func TestEveryEnvironmentNamesTheProgram(t *testing.T) {
	for name, e := range map[string]map[string]string{"a machine's": Describe(), "a simulation's": Virtual()} {
		for _, key := range []string{"program", "commit", "tree"} {
			if e[key] == "" {
				t.Errorf("%s: no %s in %v", name, key, e)
			}
		}
	}
}

func TestSame(t *testing.T) {
	a := Program{Version: "v1.0.0", Commit: "c0ffee", SHA256: "11"}
	for _, x := range []struct {
		p, q Program
		want bool
	}{
		{a, a, true},
		{a, Program{Version: "v1.0.0", Commit: "c0ffee", SHA256: "22"}, true}, // for another system
		{a, Program{Version: "v1.0.0", Commit: "beef", SHA256: "11"}, false},
		{a, Program{Version: "v2.0.0", Commit: "c0ffee", SHA256: "11"}, false},
		{a, Program{Version: "(devel)", SHA256: "11"}, true},
		{a, Program{Version: "(devel)", SHA256: "22"}, false},
		{Program{Version: "(devel)"}, Program{Version: "(devel)"}, false},
	} {
		if x.p.Same(x.q) != x.want || x.q.Same(x.p) != x.want {
			t.Errorf("%s and %s: want %v", x.p, x.q, x.want)
		}
	}
}

func TestThisProgram(t *testing.T) {
	p, err := ThisProgram()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(content); p.SHA256 != hex.EncodeToString(sum[:]) || !p.Same(p) {
		t.Errorf("%+v", p)
	}
}

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

func TestAvailableMemory(t *testing.T) {
	free := AvailableMemory()
	if runtime.GOOS == "linux" && free == 0 {
		t.Error("nothing is known of the memory")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20))
	if l := HostLimits().Memory; l != (Limit{1 << 20, "GOMEMLIMIT"}) {
		t.Errorf("%v", l)
	}
	if got := AvailableMemory(); got != 1<<20 {
		t.Errorf("%d bytes are available, and the runtime may take 1 MiB", got)
	}
}
