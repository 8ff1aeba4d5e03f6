package hugepages

import "testing"

// Whatever the size, a slice is as make gives it, before and after a place was reserved.
func TestMake(t *testing.T) {
	for range 2 {
		for _, length := range []int{0, 1, 1000, hugeInts - 1, hugeInts, 3*hugeInts + 7} {
			s := Make[int64](length)
			if len(s) != length || cap(s) < length {
				t.Fatalf("%d of %d elements, with room for %d", len(s), length, cap(s))
			}
			for i := range s {
				if s[i] != 0 {
					t.Fatalf("element %d of %d is %d", i, length, s[i])
				}
				s[i] = int64(i)
			}
		}
		Reserve(64 << 20)
	}
}

const hugeInts = 2 << 20 / 8
