package report

import "dmebench/report/plots"

// BuildSVG is Build with one format only: pixels are dear where races are
// looked for.
func BuildSVG(in Input, dir string) (string, error) { return build(in, dir, []plots.Format{plots.SVG}) }
