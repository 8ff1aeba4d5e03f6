package environment

import (
	"runtime/debug"
	"testing"
)

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
		says    string
		compare Program
		program string
	}{
		{"clean", info(at, debug.BuildSetting{Key: "vcs.modified", Value: "false"},
			debug.BuildSetting{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}), "",
			Build{"v1.2.3", commit, "2026-01-02T03:04:05Z", Clean, "go1.26"}, "v1.2.3, commit 0123456789ab (clean)",
			Program{Version: "v1.2.3", Commit: commit}, "v1.2.3 0123456789ab"},
		{"changed after the commit", info(at, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "",
			Build{"v1.2.3", commit, "", Modified, "go1.26"}, "v1.2.3, commit 0123456789ab (modified)",
			Program{Version: "v1.2.3"}, "v1.2.3 0123456789ab (modified)"},
		{"nothing noted", new(debug.BuildInfo), "", Build{"(devel)", Unknown, "", TreeUnknown, ""}, "(devel), commit unknown",
			Program{Version: "(devel)"}, "(devel)"},
		{"stamped", info(), "v2.0.0," + commit + ",2026-01-02T03:04:05Z,clean",
			Build{"v2.0.0", commit, "2026-01-02T03:04:05Z", Clean, "go1.26"}, "v2.0.0, commit 0123456789ab (clean)",
			Program{Version: "v2.0.0", Commit: commit}, "v2.0.0 0123456789ab"},
	} {
		got := buildOf(x.info, x.stamp)
		if got != x.want || got.String() != x.says || got.program() != x.compare {
			t.Errorf("%s: %+v, %q, %+v", x.name, got, got, got.program())
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
