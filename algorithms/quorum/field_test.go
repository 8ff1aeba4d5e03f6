package quorum

import "testing"

func TestPrimePowersAreRecognised(t *testing.T) {
	want := map[int]int{
		2: 2, 3: 3, 4: 2, 5: 5, 7: 7, 8: 2, 9: 3, 11: 11, 13: 13, 16: 2, 17: 17, 19: 19,
		23: 23, 25: 5, 27: 3, 29: 29, 31: 31, 32: 2, 37: 37, 41: 41, 43: 43, 47: 47, 49: 7,
	}
	for q := range 50 {
		if got := PrimePower(q); got != want[q] {
			t.Errorf("PrimePower(%d) = %d, want %d", q, got, want[q])
		}
	}
}

// TestFieldAxioms checks every field up to 49 elements by its definition.
func TestFieldAxioms(t *testing.T) {
	for q := 2; q < 50; q++ {
		if PrimePower(q) == 0 {
			continue
		}
		f := newField(q)
		for a := range q {
			if f.add(a, 0) != a || f.mul(a, 1) != a || f.mul(a, 0) != 0 {
				t.Fatalf("q=%d: 0 and 1 are not neutral for %d", q, a)
			}
			negatives, inverses := 0, 0
			for b := range q {
				if f.add(a, b) != f.add(b, a) || f.mul(a, b) != f.mul(b, a) {
					t.Fatalf("q=%d: %d and %d do not commute", q, a, b)
				}
				if f.add(a, b) == 0 {
					negatives++
				}
				if f.mul(a, b) == 1 {
					inverses++
				}
				for c := range q {
					if f.mul(a, f.add(b, c)) != f.add(f.mul(a, b), f.mul(a, c)) {
						t.Fatalf("q=%d: %d(%d+%d) is not distributive", q, a, b, c)
					}
					if f.add(a, f.add(b, c)) != f.add(f.add(a, b), c) || f.mul(a, f.mul(b, c)) != f.mul(f.mul(a, b), c) {
						t.Fatalf("q=%d: %d, %d, %d are not associative", q, a, b, c)
					}
				}
			}
			if negatives != 1 || a != 0 && inverses != 1 {
				t.Fatalf("q=%d: %d has %d negatives and %d inverses", q, a, negatives, inverses)
			}
		}
	}
}
