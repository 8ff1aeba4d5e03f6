package environment

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

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

// Groups of both versions, of which the one around the innermost leaves least.
func TestLimitsOfControlGroups(t *testing.T) {
	for _, c := range []struct {
		name, membership string
		files            map[string]string
		want             uint64 // 0: no limit
	}{
		{"none", "0::/a\n", map[string]string{"a/memory.max": "max"}, 0},
		{"version 2", "0::/a/b\n", map[string]string{
			"a/b/memory.max": "9000", "a/memory.max": "5000", "a/memory.current": "3000", "a/memory.stat": "anon 7\ninactive_file 1000\n",
		}, 3000},
		{"version 1", "9:cpu:/a\n4:cpuacct,memory:/a\n0::/\n", map[string]string{
			"memory/a/memory.limit_in_bytes": "800", "memory/a/memory.usage_in_bytes": "300", "memory/a/memory.stat": "total_inactive_file 100",
			"memory/memory.limit_in_bytes": "9223372036854771712",
		}, 600},
		{"spent", "0::/\n", map[string]string{"memory.max": "10", "memory.current": "20"}, 0},
	} {
		root := t.TempDir()
		write := func(name, text string) {
			name = filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write("membership", c.membership)
		for name, text := range c.files {
			write(name, text)
		}
		got, limited := leftOfGroups(filepath.Join(root, "membership"), root)
		if limited != (c.name != "none") || limited && got != c.want || !limited && got != math.MaxUint64 {
			t.Errorf("%s: %d bytes are left, limited %v; want %d", c.name, got, limited, c.want)
		}
	}
}
