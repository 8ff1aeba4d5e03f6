package host

import (
	"slices"
	"strings"
	"testing"
)

func TestPlacement(t *testing.T) {
	sites := []Site{
		{Name: "a", Cores: 2, Labels: map[string]string{"rack": "1", "disk": "fast"}},
		{Name: "b", Cores: 4, Labels: map[string]string{"rack": "1"}},
		{Name: "c", Cores: 1, Labels: map[string]string{"rack": "2", "disk": "fast"}},
	}
	for text, want := range map[string][]int{
		"round-robin":     {0, 1, 2, 0, 1},
		"packed":          {0, 0, 1, 1, 1},
		"label:rack":      {0, 2, 1, 0, 2},
		"label:rack=1":    {0, 1, 0, 1, 0},
		"label:disk=fast": {0, 2, 0, 2, 0},
	} {
		p, err := ParsePlacement(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := p.Place(5, sites); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	packed, _ := ParsePlacement("packed")
	got, _ := packed.Place(14, sites)
	count := make([]int, 3)
	for _, k := range got {
		count[k]++
	}
	if !slices.Equal(count, []int{4, 8, 2}) || !slices.IsSorted(got) {
		t.Errorf("14 workers on 7 cores: %v", got)
	}
}

func TestPlacementsThatCannotBe(t *testing.T) {
	sites := []Site{{Name: "a", Labels: map[string]string{"rack": "1"}}, {Name: "b"}}
	for text, want := range map[string]string{
		"":              "want round-robin",
		"random":        "want round-robin",
		"label:":        "want label:KEY",
		"label:rack=":   "want label:KEY",
		"label:rack":    "no label rack on b",
		"label:rack=3":  "no host has the label rack=3",
		"label:zone=eu": "no host has the label zone=eu",
	} {
		p, err := ParsePlacement(text)
		if err == nil {
			_, err = p.Place(3, sites)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	p, _ := ParsePlacement(DefaultPlacement)
	if _, err := p.Place(1, nil); err == nil {
		t.Error("workers were placed on no host")
	}
}
