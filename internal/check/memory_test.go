package check

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestVisitedIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, twin := new(visited), map[hash]bool{}
		// Few different halves, so that shards and slots collide.
		half := rapid.Uint64Range(0, 40)
		for range rapid.IntRange(0, 600).Draw(t, "adds") {
			h := hash{half.Draw(t, "a") << rapid.SampledFrom([]int{0, 8, 60}).Draw(t, "shift"), half.Draw(t, "b")}
			if h == (hash{}) || h == (hash{a: 1}) {
				continue // one and the same here
			}
			if v.add(h) == twin[h] {
				t.Fatalf("%v: new %v", h, !twin[h])
			}
			twin[h] = true
		}
	})
	v := new(visited)
	if !v.add(hash{}) || v.add(hash{}) {
		t.Error("the zero hash is not remembered")
	}
}

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

func TestAncestry(t *testing.T) {
	var a ancestry
	first, block := a.block()
	if first != 0 || block[0] != 0 {
		t.Fatalf("the first state is %d, from %v", first, block[0])
	}
	second, other := a.block()
	block[3] = originOf(0, 5)
	other[9] = originOf(3, 1<<moveBits-1)
	if got := a.path(second + 9); fmt.Sprint(got) != fmt.Sprint([]int{5, 1<<moveBits - 1}) {
		t.Errorf("path %v", got)
	}
	if got := a.path(0); len(got) != 0 {
		t.Errorf("path to the beginning %v", got)
	}
}
