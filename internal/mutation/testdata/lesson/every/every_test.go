package every

import "testing"

// Whatever is rewritten still does this with no fault active.
func TestAll(t *testing.T) {
	if n := conditions(3, 9, true, false); n != 45 {
		t.Errorf("conditions: %d", n)
	}
	if n := conditions(0, 0, false, true); n != 0 {
		t.Errorf("conditions: %d", n)
	}
	for n, want := range map[int]string{0: "none", 1: "few", 2: "few", 3: "!", 4: "many!", -4: "many!"} {
		if name, err := choices(n, make(chan int, 2)); name != want || err != nil {
			t.Errorf("choices(%d): %s, %v", n, name, err)
		}
	}
	if p := swapped(pair{left: 9, rest: []string{"a"}}, pair{left: 2, right: 4}); p.left != 7 || p.right != 2 || len(p.rest) != 1 {
		t.Errorf("swapped: %v", p)
	}
	if s := sum([4]float64{1, 2}); s != -3 {
		t.Errorf("sum: %v", s)
	}
	if !wait(4e9, func() bool { return true }) || wait(3e9, nil) {
		t.Error("wait")
	}
}
