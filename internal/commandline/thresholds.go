package commandline

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/exit"
	"dmebench/report/threshold"
	"dmebench/result"
)

// failIfFlag lets a user say what is not to be accepted; of says whose value counts.
func failIfFlag(of string) cli.Flag {
	return &cli.StringSliceFlag{
		Name: "fail-if",
		Usage: "`THRESHOLD` " + of + " that must not be crossed, " + threshold.Form + "; may be repeated. Where one is, the exit code is 3. " +
			"A METRIC is a column of summary.csv or one of " + strings.Join(result.ShortNames(), ", "),
	}
}

// thresholdsOf reads what the flag says.
func thresholdsOf(c *cli.Context) ([]threshold.Threshold, error) {
	all, err := threshold.ParseAll(c.StringSlice("fail-if"))
	if err != nil {
		return nil, failWith(exit.Usage, err)
	}
	return all, nil
}

// judged says what came of the thresholds, and returns the exit code of what would
// else have ended with code.
func (p *program) judged(code int, v threshold.Verdict) int {
	for _, line := range v.Lines {
		fmt.Fprintf(p.stderr, "dmebench: %s\n", line)
	}
	return exit.OfThresholds(code, v.Crossed, v.Unknown)
}
