package doctor

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"dmebench/internal/platform/layout"
	"dmebench/internal/testkit"
)

// sample is a report with something of everything.
func sample(names ...string) *Report {
	hosts, paths := between(names...)
	for i := range hosts {
		r, o := fit()
		if i == 3 {
			r.kept.Synchronized, o.Several = false, true
		}
		if i == 1 {
			r.kept.Synchronized, o.Several = false, true
			r.receive = 212992
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

func write(t *testing.T, r *Report, s layout.Style) string {
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
		"one-80.txt":  write(t, alone, layout.Style{Width: 80}),
		"one.txt":     write(t, alone, layout.Style{}),
		"four-80.txt": write(t, sample("alpha", "beta", "gamma", "delta"), layout.Style{Width: 80}),
	} {
		testkit.FileMustBe(t, filepath.Join("testdata", name), []byte(text))
		for line := range strings.Lines(text) {
			if strings.Contains(name, "80") && utf8.RuneCountInString(line) > 81 {
				t.Errorf("more than 80 columns: %s", line)
			}
		}
	}
}

// TestColours: colours only come on top of the words.
func TestColours(t *testing.T) {
	r := sample("a", "b", "c")
	plain, coloured := write(t, r, layout.Style{Width: 80}), write(t, r, layout.Style{Width: 80, Colour: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b") {
		t.Error("colours are not where they belong")
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("without its colours, the text is another one:\n%s", got)
	}
}
