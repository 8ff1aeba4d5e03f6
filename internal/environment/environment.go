// Package environment describes the machine and the program of a run, as far as
// they matter to whoever reads its figures: on shared machines medians move
// several-fold with placement alone.
package environment

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"strconv"
	"strings"

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
	set("cpu", field("/proc/cpuinfo", "model name"))
	set("memory", field("/proc/meminfo", "MemTotal"))
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

// Virtual describes what a simulation depends on: the program alone, and no machine.
func Virtual() map[string]string {
	e := ThisBuild().facts()
	e["time"] = "virtual"
	return e
}

// CPUQuota returns how many processors' time the control groups of this process
// allow it, together with all others in them; limited is false where they do not
// bound it.
func CPUQuota() (processors float64, limited bool) { return cpuQuotaAt("/") }

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// field returns the value of the first 'name : value' line of a file.
func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstFields(file string, n int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(n, len(fields))], " ")
}
