// Package environment describes the machine and the program of a run, as far as they matter to
// readers of its figures: on shared machines placement alone moves medians several-fold.
package environment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Describe returns what is known of this machine and program. A fact that
// cannot be found out is left out.
func Describe() map[string]string {
	e := map[string]string{
		"go":         runtime.Version(),
		"os":         runtime.GOOS,
		"arch":       runtime.GOARCH,
		"cores":      fmt.Sprint(runtime.NumCPU()),
		"gomaxprocs": fmt.Sprint(runtime.GOMAXPROCS(0)),
	}
	set := func(key, value string) {
		if value != "" {
			e[key] = value
		}
	}
	set("kernel", kernel())
	set("cpu", field("/proc/cpuinfo", "model name", ":"))
	set("memory", field("/proc/meminfo", "MemTotal", ":"))
	set("load_average", firstFields("/proc/loadavg", 3))
	set("governor", firstFields("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", 1))
	set("clock_source", firstFields("/sys/devices/system/clocksource/clocksource0/current_clocksource", 1))
	if cpus, err := CPUs(); err == nil {
		set("cpu_affinity", strings.Trim(strings.ReplaceAll(fmt.Sprint(cpus), " ", ","), "[]"))
	}
	if processors, limited := CPUQuota(); limited {
		set("cpu_quota", strconv.FormatFloat(processors, 'g', 4, 64))
	}
	maps.Copy(e, ThisBuild().facts())
	return e
}

func Virtual() map[string]string {
	e := ThisBuild().facts()
	e["time"] = "virtual"
	return e
}

// CPUQuota returns how many processors' time the control groups of this process
// allow it, together with all others in them.
func CPUQuota() (processors float64, limited bool) { return cpuQuotaAt("/") }

// Boost says whether processors may exceed their speed: "on", "off"; "" if unknown.
func Boost() string { return boostAt("/") }

func boostAt(root string) string {
	dir := filepath.Join(root, "sys/devices/system/cpu")
	turbo, _ := os.ReadFile(dir + "/intel_pstate/no_turbo")
	boost, _ := os.ReadFile(dir + "/cpufreq/boost")
	return map[string]string{"0\n": "on", "1\n": "off", "01\n": "on", "00\n": "off"}[cmp.Or(string(turbo), "0"+string(boost))]
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// field returns the value of the first line of a file that has a name before a separator.
func field(file, name, separator string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, separator); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstFields(file string, n int) string {
	text, _ := os.ReadFile(file)
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(n, len(fields))], " ")
}

// Unknown stands for a commit, or the state of a tree, that the build did not note:
// 'go run' and 'go test' do not, nor does a build outside of a repository.
const Unknown = "unknown"

type Tree string

// The states of a tree.
const (
	Clean       Tree = "clean"
	Modified    Tree = "modified"
	TreeUnknown Tree = Unknown
)

type Build struct {
	Version string // of the module; "(devel)" if it has none
	Commit  string // in full, or Unknown
	Time    string // of the commit, as RFC 3339 has it; "" if that is not known
	Tree    Tree
	Go      string // version of the toolchain
}

// stamp is set by builds that have no repository to look at, such as those of
// releases: -ldflags "-X MODULE/internal/environment.stamp=VERSION,COMMIT,TIME,TREE".
var stamp string

func ThisBuild() Build { return thisBuild() }

var thisBuild = sync.OnceValue(func() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return buildOf(info, stamp)
})

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

// short is what people are shown of a commit or a sum.
func short(digits string) string { return digits[:min(12, len(digits))] }

func (b Build) facts() map[string]string {
	program := b.Version
	if b.Commit != Unknown {
		program += " " + short(b.Commit)
	}
	if b.Tree == Modified {
		program += " (modified)"
	}
	return map[string]string{"program": program, "commit": b.Commit, "tree": string(b.Tree)}
}

// program is the build as processes of one run compare theirs. A commit with changes says
// nothing.
func (b Build) program() Program {
	p := Program{Version: b.Version}
	if b.Commit != Unknown && b.Tree != Modified {
		p.Commit = b.Commit
	}
	return p
}

type Program struct {
	Version string `json:"version,omitempty"` // of the module, for people
	Commit  string `json:"commit,omitempty"`  // the commit it was built from; "" if that is not known, or not all
	SHA256  string `json:"sha256,omitempty"`  // of the file that is executed, in hexadecimal
}

// Same reports whether two programs are of one commit, whatever systems they were built for; if a
// commit is not known, whether their files are the same.
func (p Program) Same(q Program) bool {
	if p.Commit != "" && q.Commit != "" {
		return p.Version == q.Version && p.Commit == q.Commit
	}
	return p.SHA256 != "" && p.SHA256 == q.SHA256
}

func (p Program) String() string {
	text := cmp.Or(p.Version, "an unknown build")
	if p.Commit != "" {
		text += ", commit " + short(p.Commit)
	}
	if p.SHA256 != "" {
		text += ", sha256 " + short(p.SHA256)
	}
	return text
}

func ThisProgram() (Program, error) { return thisProgram() }

var thisProgram = sync.OnceValues(func() (p Program, err error) {
	p = ThisBuild().program()
	p.SHA256, err = executableSum()
	return p, err
})

func executableSum() (string, error) {
	name := "/proc/self/exe" // of what is executed, even if the file was replaced meanwhile
	if runtime.GOOS != "linux" {
		var err error
		if name, err = os.Executable(); err != nil {
			return "", fmt.Errorf("cannot find this program: %w", err)
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot read this program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot read this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// compared are the facts of [Describe] in the order in which differences between hosts are
// reported: first what changes what is run, then how fast. Others follow by name.
var compared = []string{
	"program", "go", "os", "arch", "cores", "cpu_quota", "gomaxprocs", "cpu", "governor", "memory", "clock_source", "kernel",
}

// ofEachHost are facts in which hosts may differ without a difference to what is measured.
var ofEachHost = []string{"load_average", "cpu_affinity", "commit", "tree"}

// alike is the ratio up to which two sizes of memory are the same.
const alike = 1.05

// Differences compares the environments of several hosts by name. It returns a sentence for
// each fact in which some of them differ, such as "cores: 2 on a and b; 4 on c".
func Differences(hosts map[string]map[string]string) []string {
	known := make(map[string]int) // place in the order
	for _, facts := range hosts {
		for fact := range facts {
			if known[fact] = slices.Index(compared, fact); known[fact] < 0 {
				known[fact] = len(compared)
			}
		}
	}
	facts := slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return cmp.Or(known[a]-known[b], strings.Compare(a, b))
	})
	var all []string
	for _, fact := range facts {
		if slices.Contains(ofEachHost, fact) {
			continue
		}
		by := make(map[string][]string) // value: hosts
		for _, host := range slices.Sorted(maps.Keys(hosts)) {
			value := cmp.Or(hosts[host][fact], "not known")
			by[value] = append(by[value], host)
		}
		if len(by) > 1 && !(fact == "memory" && sameMemory(slices.Collect(maps.Keys(by)))) {
			all = append(all, fact+": "+valuesByHost(by))
		}
	}
	return all
}

func valuesByHost(by map[string][]string) string {
	values := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), strings.Compare(by[a][0], by[b][0]))
	})
	var parts []string
	for _, value := range values {
		parts = append(parts, fmt.Sprintf("%s on %s", value, enumerate(by[value])))
	}
	return strings.Join(parts, "; ")
}

const mostNamed = 4

func enumerate(hosts []string) string {
	if len(hosts) > mostNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(hosts[:mostNamed-1], ", "), len(hosts)-mostNamed+1)
	}
	last := len(hosts) - 1
	if last == 0 {
		return hosts[0]
	}
	return strings.Join(hosts[:last], ", ") + " and " + hosts[last]
}

// sameMemory compares sizes such as "4026824 kB".
func sameMemory(sizes []string) bool {
	var all []float64
	for _, size := range sizes {
		n, err := strconv.ParseFloat(strings.TrimSuffix(size, " kB"), 64)
		if err != nil {
			return false
		}
		all = append(all, n)
	}
	return slices.Max(all) <= alike*slices.Min(all)
}
