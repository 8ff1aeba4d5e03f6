package vnet

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table table
		twin := map[uint64]uint32{}
		for range rapid.IntRange(0, 3000).Draw(t, "puts") {
			key := rapid.Uint64Range(0, 1<<62).Draw(t, "key")
			if value, ok := table.get(key); ok != (twin[key] != 0) || value != twin[key] {
				t.Fatalf("%d: %d, %v; want %d", key, value, ok, twin[key])
			}
			if twin[key] == 0 {
				twin[key] = uint32(len(twin) + 1)
				table.put(key, twin[key])
			}
		}
		for key, want := range twin {
			if value, ok := table.get(key); !ok || value != want {
				t.Fatalf("%d: %d, %v; want %d", key, value, ok, want)
			}
		}
	})
}

// Equal bytes get equal numbers, whoever brings them.
func TestPool(t *testing.T) {
	var p pool[string]
	const workers, most = 4, 3000
	var ids [workers][most]uint32
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range most {
				k := (i*7 + w*1000) % most
				key := binary.AppendUvarint(nil, uint64(k))
				ids[w][k] = p.id(key, func(x *string, _ uint32, key string) { *x = fmt.Sprint(k, len(key)) })
				if got := *p.at(ids[w][k]); got != fmt.Sprint(k, len(key)) {
					t.Errorf("component %d is %s", k, got)
				}
			}
		})
	}
	wg.Wait()
	if p.count != most {
		t.Errorf("%d components, want %d", p.count, most)
	}
	for w := range workers {
		if ids[w] != ids[0] {
			t.Errorf("worker %d has other numbers than worker 0", w)
		}
	}
}
