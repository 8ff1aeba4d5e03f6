package report_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/internal/testkit"
	"dmebench/report"
	"dmebench/report/compare"
	"dmebench/report/page"
	"dmebench/runs"
)

// What a reader can do with the page of a report. The lines of a case make an experiment, as
// those of TestCases do, or say which results to take:
//
//	reference NAME     the reference data
//	claims, survival   a validation's claims, a table of what algorithms survive
//	comparison         the algorithms of the experiment beside one another
//	again              the page of the case before it, as it was left
//
// "open FRAGMENT" opens the page. The other lines are steps as testkit has them.
func TestBrowser(t *testing.T) {
	testkit.TakesLong(t)
	files, err := filepath.Glob("testdata/browser/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b := testkit.NewBrowser(t)
			testkit.Cases(t, file, func(t *testing.T, input []string) string {
				m, opened := making{t: t}, false
				var out []string
				var other *page.Data
				open := func(fragment string) {
					data, err := other, error(nil)
					if other == nil {
						data, err = m.in.Page()
					}
					if err != nil {
						t.Fatal(err)
					}
					html, err := data.Render()
					if err != nil {
						t.Fatal(err)
					}
					b.Open(html, fragment)
					opened = true
				}
				for _, line := range input {
					words := strings.Fields(line)
					switch {
					case words[0] == "reference":
						set, err := runs.Read(filepath.Join("../results/reference", words[1]))
						if err != nil {
							t.Fatal(err)
						}
						m.add(report.Input{Set: *set})
					case words[0] == "claims":
						d := growing(func(n float64) float64 { return 3*math.Sqrt(n) - 2 })
						d.Claims = append(d.Claims, verdicts().Claims...)
						other = report.ClaimsPage(d)
					case words[0] == "survival":
						other = report.SurvivalPage(survivors())
					case words[0] == "comparison":
						c, err := compare.Beside(&m.in.Set, "algorithm", "", compare.Options{})
						if err != nil {
							t.Fatal(err)
						}
						other = c.Page()
					case words[0] == "again":
						opened = true
					case words[0] == "open":
						open(strings.TrimSpace(strings.TrimPrefix(line, "open")))
					case m.make(words, line):
					default:
						if !opened && words[0] != "size" {
							open("")
						}

						said, ok := b.Step(line)
						if !ok {
							t.Fatalf("what is %q?", line)
						}
						if said = strings.TrimSpace(said); said != "" {
							out = append(out, line+": "+said)
						}
					}
				}
				return strings.Join(out, "\n")
			})
		})
	}
}
