package doctor

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dmebench/internal/golden"
)

// sample is a report with something of everything.
func sample(names ...string) *Report {
	hosts, paths := between(names...)
	for i := range hosts {
		r, o := fit()
		if i == 3 {
			r.clock.synchronized, r.clock.services, o.Several = false, nil, true
		}
		if i == 1 {
			r.clock.synchronized, r.clock.services, o.Several = false, nil, true
			r.network.receive = 212992
			hosts[i].Environment = map[string]string{"cores": "4", "cpu": "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"}
		}
		hosts[i].Findings = r.judge(o)
	}
	if len(hosts) > 2 {
		hosts[2].InUse, hosts[2].Findings = "lab-7 (quickstart)", []Finding{InUse("lab-7 (quickstart)")}
	}
	for i := range paths {
		p := &paths[i]
		switch {
		case p.From == names[1] && p.To == names[0]:
			cut(p, true)
		case p.From == names[0] && p.To == names[1]:
			p.UDP.Lost = 2
			*p.OffsetNS, *p.BoundNS = 26*3600e9, 123456
		}
	}
	return NewReport(hosts, paths, 0)
}

func write(t *testing.T, r *Report, s Style) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestText compares what people read with files that were looked at.
func TestText(t *testing.T) {
	alone := sample("a", "b")
	alone = NewReport(alone.Hosts[1:], nil, 0)
	for name, text := range map[string]string{
		"one-80.txt":  write(t, alone, Style{Width: 80}),
		"one-120.txt": write(t, alone, Style{Width: 120}),
		"four-80.txt": write(t, sample("alpha", "beta", "gamma", "delta"), Style{Width: 80}),
	} {
		golden.MustBe(t, filepath.Join("testdata", name), []byte(text))
	}
}

// TestWidth: no line is wider than the terminal, whatever the hosts are called and
// however many there are, and nothing of a matrix is lost.
func TestWidth(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for _, hosts := range []int{1, 2, 7, 30} {
			var names []string
			for i := range hosts {
				names = append(names, fmt.Sprintf("host-%d-%s", i+1, strings.Repeat("x", i*7%60)))
			}
			long := Finding{Check: "c", Found: strings.Repeat("word ", 90) + strings.Repeat("y", 300)}
			r := NewReport([]Host{{Name: names[0], Findings: []Finding{long}}}, nil, 0)
			if hosts > 1 {
				r = sample(names...)
			}
			text := write(t, r, Style{Width: width})
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns where there are %d: %s", n, width, line)
				}
			}
			if want := hosts * (hosts - 1) * 2; hosts > 2 && strings.Count(text, "120µs")+strings.Count(text, "80.0µs") != want-1 {
				t.Errorf("%d hosts in %d columns: not all %d round trips are there", hosts, width, want-1)
			}
		}
	}
}

// TestColours: colours only come on top of the words.
func TestColours(t *testing.T) {
	r := sample("a", "b", "c")
	plain, coloured := write(t, r, Style{Width: 80}), write(t, r, Style{Width: 80, Colour: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b") {
		t.Error("colours are not where they belong")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("without its colours, the text is another one:\n%s", got)
	}
}

// TestWrap: words come out as they went in, in lines that are full.
func TestWrap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var words []string
		for range random.IntN(30) {
			words = append(words, strings.Repeat("é", 1+random.IntN(12)))
		}
		width := 12 + random.IntN(40)
		lines := wrap(strings.Join(words, " "), width)
		if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, words) {
			t.Fatalf("%q became %q", words, lines)
		}
		for i, l := range lines {
			if utf8.RuneCountInString(l) > width {
				t.Fatalf("%q is longer than %d", l, width)
			}
			if i+1 < len(lines) {
				next, _, _ := strings.Cut(lines[i+1], " ")
				if utf8.RuneCountInString(l)+1+utf8.RuneCountInString(next) <= width {
					t.Fatalf("%q has room for %q in %d", l, next, width)
				}
			}
		}
	}
}

func TestBrief(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 999: "999ns", 1000: "1.00µs", 999_499: "999µs", 999_600: "1.00ms", -50_012_345: "−50.0ms",
		1_203_412e9: "13.9d", 7200e9: "2.00h", 59e9: "59.0s",
	} {
		if got := brief(ns); got != want {
			t.Errorf("%d ns: %q, want %q", ns, got, want)
		}
	}
}
