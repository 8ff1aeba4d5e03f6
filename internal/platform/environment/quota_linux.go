package environment

import (
	"path/filepath"
	"strconv"
	"strings"
)

// cpuQuotaAt is CPUQuota on a host whose file system is at root: the least quota of
// the groups' that can be seen, of version 2 or 1.
func cpuQuotaAt(root string) (processors float64, limited bool) {
	for dir := range groupsAt(root) {
		quota, period := firstFields(filepath.Join(dir, "cpu.cfs_quota_us"), 1), firstFields(filepath.Join(dir, "cpu.cfs_period_us"), 1)
		if both := strings.Fields(firstFields(filepath.Join(dir, "cpu.max"), 2)); len(both) == 2 {
			quota, period = both[0], both[1]
		}
		q, err1 := strconv.ParseFloat(quota, 64) // "max", or -1, where there is none
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 && (!limited || q/p < processors) {
			processors, limited = q/p, true
		}
	}
	return processors, limited
}
