package units

import (
	"testing"
)

func TestFind(t *testing.T) {
	names := []string{"tcp", "Raymond", "a", "A"}
	for name, want := range map[string]string{"tcp": "tcp", "TCP": "tcp", "raymond": "Raymond", "a": "a", "A": "A", "udp": "", "": ""} {
		if got, ok := FindName(name, names); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", name, got, ok, want)
		}
	}
	if got, ok := FindName("B", []string{"b", "b"}); !ok || got != "b" {
		t.Errorf("a name that is listed twice: %q, %v", got, ok)
	}
	if got, ok := FindName("BB", []string{"bb", "bB"}); ok {
		t.Errorf("one of two that differ in case alone was taken: %q", got)
	}
}

func TestNear(t *testing.T) {
	names := []string{"maekawa", "maekawa-as-published", "raymond", "raymond-robust", "lamport", "lamport-optimized", "tcp", "udp", "nats"}
	for name, want := range map[string]string{
		"maekwa": "maekawa", "MAEKWA": "maekawa", "meakawa": "maekawa", "raymnod": "raymond", "raimund": "raymond", "tpc": "tcp",
		"upd": "udp", "t": "tcp", "nast": "nats", "pigeon": "", "": "", "xy": "", "xyz": "", "raymond-": "raymond",
		"lamport-opt": "lamport-optimized", "maekawa-as": "maekawa-as-published", "xxtcpxx": "",
	} {
		if got := NearestName(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	// Two names begin so, and neither is near.
	if got := NearestName("agra", []string{"agrawal-el-abbadi", "agrawal-el-abbadi-as-published"}); got != "" {
		t.Errorf("agra: %q", got)
	}
}

// edited returns every word of the letters a, b and c that one edit makes of a word.
func edited(word string) (all []string) {
	for i := 0; i <= len(word); i++ {
		for _, letter := range "abc" {
			all = append(all, word[:i]+string(letter)+word[i:])
			if i < len(word) {
				all = append(all, word[:i]+string(letter)+word[i+1:])
			}
		}
		if i < len(word) {
			all = append(all, word[:i]+word[i+1:])
		}
		if i+1 < len(word) {
			all = append(all, word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
	}
	return all
}

// What two edits make of a word is two away or less, and nothing else is.
func TestEditsAgreesWithItsTwin(t *testing.T) {
	words := []string{""}
	for i := 0; i < len(words) && len(words[i]) < 5; i++ {
		for _, letter := range "abc" {
			words = append(words, words[i]+string(letter))
		}
	}
	for _, from := range []string{"", "a", "ab", "abc", "abca", "aabb", "abcab"} {
		away := map[string]int{from: 0}
		for _, once := range edited(from) {
			if _, seen := away[once]; !seen {
				away[once] = 1
			}
		}
		for _, once := range edited(from) {
			for _, twice := range edited(once) {
				if _, seen := away[twice]; !seen {
					away[twice] = 2
				}
			}
		}
		for _, to := range words {
			want, near := away[to]
			if !near {
				want = 3
			}
			if got := edits(from, to, 2); got != want {
				t.Errorf("%q to %q: %d, want %d", from, to, got, want)
			}
		}
	}
}

func TestUnknown(t *testing.T) {
	names := []string{"tcp", "udp"}
	for name, want := range map[string]string{
		"tpc":    `unknown transport "tpc"; did you mean 'tcp'?`,
		"pigeon": `unknown transport "pigeon"; there are tcp, udp`,
	} {
		if got := UnknownName("transport", name, names, Listed(names)).Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
