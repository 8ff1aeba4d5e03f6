package environment

import (
	"runtime/debug"
	"strings"
	"sync"
)

// Unknown stands for a commit, or the state of a tree, that the build did not note:
// 'go run' and 'go test' do not, nor does a build outside of a repository.
const Unknown = "unknown"

// Tree says whether the source was as committed when a program was built from it.
type Tree string

// The states of a tree.
const (
	Clean       Tree = "clean"
	Modified    Tree = "modified"
	TreeUnknown Tree = Unknown
)

// Build says from what a program was built.
type Build struct {
	Version string // of the module; "(devel)" where it has none
	Commit  string // in full, or Unknown
	Time    string // of the commit, as RFC 3339 has it; "" where that is not known
	Tree    Tree
	Go      string // version of the toolchain
}

// stamp is set by builds that have no repository to look at, such as those of
// releases: -ldflags "-X MODULE/internal/environment.stamp=VERSION,COMMIT,TIME,TREE".
var stamp string

// ThisBuild says from what this program was built.
func ThisBuild() Build { return thisBuild() }

var thisBuild = sync.OnceValue(func() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return buildOf(info, stamp)
})

// buildOf returns what the go command has noted, unless the build was stamped.
func buildOf(info *debug.BuildInfo, stamp string) Build {
	b := Build{Version: info.Main.Version, Commit: Unknown, Tree: TreeUnknown, Go: info.GoVersion}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if parts := strings.Split(stamp, ","); len(parts) == 4 {
		b.Version, b.Commit, b.Time, b.Tree = parts[0], parts[1], parts[2], Tree(parts[3])
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Tree = Clean
			if s.Value == "true" {
				b.Tree = Modified
			}
		}
	}
	return b
}

// shortCommit is how many digits of a commit people are shown.
const shortCommit = 12

// String names the build in one line: "v1.2.3, commit 0123456789ab (clean)".
func (b Build) String() string {
	if b.Commit == Unknown {
		return b.Version + ", commit unknown"
	}
	return b.Version + ", commit " + b.Commit[:min(shortCommit, len(b.Commit))] + " (" + string(b.Tree) + ")"
}

// facts are those of [Describe] that speak of the program.
func (b Build) facts() map[string]string {
	program := b.Version
	if b.Commit != Unknown {
		program += " " + b.Commit[:min(shortCommit, len(b.Commit))]
	}
	if b.Tree == Modified {
		program += " (modified)"
	}
	return map[string]string{"program": program, "commit": b.Commit, "tree": string(b.Tree)}
}

// program is the build as processes of one run compare theirs. A commit with changes
// on top says nothing.
func (b Build) program() Program {
	p := Program{Version: b.Version}
	if b.Commit != Unknown && b.Tree != Modified {
		p.Commit = b.Commit
	}
	return p
}
