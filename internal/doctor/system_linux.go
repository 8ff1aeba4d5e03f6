package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// keptBy fills in how the kernel's clock is kept.
func (r *clockReading) keptBy(root string) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	r.known, r.refused = err == nil, err
	r.synchronized = state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
	r.estimated = time.Duration(t.Esterror) * time.Microsecond
	r.most = time.Duration(t.Maxerror) * time.Microsecond
	r.services = timeServices(root)
	r.container = inContainer(root)
}

// known time services, by the names of their processes, of which the kernel keeps
// fifteen bytes.
var knownServices = []string{
	"chronyd", "ntpd", "ntpsec", "openntpd", "systemd-timesyncd", "ptp4l", "phc2sys", "ptpd", "timemaster",
}

// timeServices names the time services that run, each once. Those that work together
// (PTP's) count as one.
func timeServices(root string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*/comm"))
	for _, file := range files {
		comm := line(file)
		for _, name := range knownServices {
			if comm != name[:min(len(name), 15)] || comm == "" {
				continue
			}
			if slices.Contains([]string{"phc2sys", "timemaster"}, name) {
				name = "ptp4l"
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// inContainer reports whether the processes of the host are hidden from this one: the
// first process is none that starts a system.
func inContainer(root string) bool {
	first := line(filepath.Join(root, "proc/1/comm"))
	return !slices.Contains([]string{"systemd", "init", "openrc-init", "runit", "s6-svscan"}, first)
}

func readSource() sourceReading {
	const dir = "/sys/devices/system/clocksource/clocksource0/"
	return sourceReading{
		name: line(dir + "current_clocksource"), available: strings.Fields(line(dir + "available_clocksource")), cost: readingCost(),
	}
}

// online counts the processors that the host uses.
func online(root string) int {
	n := 0
	for part := range strings.SplitSeq(line(filepath.Join(root, "sys/devices/system/cpu/online")), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		n += b - a + 1
	}
	return n
}

// frequency says what governs the processors' speed, and whether they may exceed it.
func frequency(root string) (governor, boost string) {
	dir := filepath.Join(root, "sys/devices/system/cpu")
	governor = line(filepath.Join(dir, "cpu0/cpufreq/scaling_governor"))
	for _, switches := range []struct{ file, on, off string }{{"intel_pstate/no_turbo", "0", "1"}, {"cpufreq/boost", "1", "0"}} {
		switch line(filepath.Join(dir, switches.file)) {
		case switches.on:
			return governor, "on"
		case switches.off:
			return governor, "off"
		}
	}
	return governor, ""
}

// virtual reports whether the host is a virtual machine.
func virtual(root string) bool {
	text, _ := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	for l := range strings.Lines(string(text)) {
		if name, flags, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "flags" {
			return slices.Contains(strings.Fields(flags), "hypervisor")
		}
	}
	return false
}

// ticks are times of the processors of a host, in units of the kernel's.
type ticks struct{ busy, stolen, all uint64 }

// readTicks reads what the processors have done since the start of the host.
func readTicks(root string) (t ticks, ok bool) {
	text, err := os.ReadFile(filepath.Join(root, "proc/stat"))
	if err != nil {
		return t, false
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	// cpu user nice system idle iowait irq softirq steal guest guest_nice, of which
	// user has guest in it.
	if len(fields) < 9 || fields[0] != "cpu" {
		return t, false
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return t, false
		}
		t.all += n
		switch i {
		case 3, 4:
		case 7:
			t.stolen = n
		default:
			t.busy += n
		}
	}
	return t, true
}

// swapped counts the pages that went to a disk for want of memory, or came back.
func swapped(root string) (pages uint64) {
	text, _ := os.ReadFile(filepath.Join(root, "proc/vmstat"))
	for l := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(l), " "); ok && (name == "pswpin" || name == "pswpout") {
			n, _ := strconv.ParseUint(value, 10, 64)
			pages += n
		}
	}
	return pages
}

func readPorts(root string) (r portReading) {
	bounds := strings.Fields(line(filepath.Join(root, "proc/sys/net/ipv4/ip_local_port_range")))
	if len(bounds) != 2 {
		return r
	}
	first, err1 := strconv.Atoi(bounds[0])
	last, err2 := strconv.Atoi(bounds[1])
	if err1 != nil || err2 != nil || last < first {
		return r
	}
	r.first, r.last = first, last
	for _, file := range []string{"sockstat", "sockstat6"} {
		text, _ := os.ReadFile(filepath.Join(root, "proc/net", file))
		for l := range strings.Lines(string(text)) {
			fields := strings.Fields(l) // TCP: inuse 1 orphan 0 tw 5 alloc 1 mem 433
			if len(fields) == 0 || !strings.HasPrefix(fields[0], "TCP") {
				continue
			}
			for i := 1; i+1 < len(fields); i += 2 {
				n, _ := strconv.ParseUint(fields[i+1], 10, 64)
				switch fields[i] {
				case "inuse":
					r.used += n
				case "tw":
					r.waiting += n
				}
			}
		}
	}
	return r
}

// fileSystem says what is free for this user where a folder is, and on what kind.
func fileSystem(folder string) (free uint64, kind string, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return 0, "", false
	}
	return s.Bavail * uint64(s.Bsize), kinds[uint32(s.Type)], true
}

var kinds = map[uint32]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs",
	unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2", unix.FUSE_SUPER_MAGIC: "fuse", unix.V9FS_MAGIC: "9p",
	unix.CEPH_SUPER_MAGIC: "ceph",
}

// line returns the first line of a file, "" of one that cannot be read.
func line(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}
