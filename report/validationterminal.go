package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"dmebench/claims"
	"dmebench/internal/platform/layout"
)

// ValidationOnTerminal writes what [ValidationLines] writes for a person at a terminal: a line for
// each claim that fits the width, what holds first and what does not hold last, and the counts at
// the end. A claim that failed has its reason below it, one that holds in part its worst point, and
// a verdict that rests on a tolerance that. With verbose every claim has its whole reason and its
// source.
func ValidationOnTerminal(w io.Writer, d *claims.Document, style layout.Style, verbose bool) error {
	longest := 0
	for _, v := range d.Claims {
		longest = max(longest, utf8.RuneCountInString(v.Algorithm))
	}
	for _, status := range slices.Backward(byWeight) {
		for _, v := range d.Claims {
			if v.Verdict != status {
				continue
			}
			name, word := fmt.Sprintf("%-*s", longest, v.Algorithm), verdictWord(status)
			room := 0 // there is no end
			if style.Width > 0 {
				room = max(1, style.Width-longest-utf8.RuneCountInString(word)-4)
			}
			_, err := fmt.Fprintf(w, "%s  %s  %s\n", style.Strong(name), coloured(style, status, word), lineText(v, room))
			if err == nil {
				err = writeReason(w, v, style, verbose)
			}
			if err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, style.Wrap(ValidationSummary(d), 0))
	return err
}

// lineText is the claim and what was measured, with what was predicted if there is room for it.
func lineText(v claims.Verdict, room int) string {
	text := fmt.Sprintf("%s, %s", briefClaim(v), v.Load)
	if v.Shown >= 0 {
		p := v.Points[v.Shown]
		text += ": " + measuredText(v) + closeness(v)
		more := fmt.Sprintf("%s (predicted %s, N = %s)", text, measure(v, p.Predicted), count(p.Nodes))
		if room == 0 || utf8.RuneCountInString(more) <= room {
			return more
		}
	}
	return layout.Cut(text, room)
}

// closeness says how close a bound comes that holds.
func closeness(v claims.Verdict) string {
	if v.Closest == nil || v.Verdict != claims.Holds {
		return ""
	}
	return ", " + claims.Closeness(*v.Closest)
}

// writeReason writes why a claim does not hold, below its line.
func writeReason(w io.Writer, v claims.Verdict, style layout.Style, verbose bool) error {
	reasons := []string{strings.TrimLeft(v.Detail, ": ")}
	switch {
	case verbose:
		reasons = append(reasons, v.Source+"; "+v.ID)
	case v.Verdict == claims.Partly && v.Shown >= 0 && !v.Points[v.Shown].Agrees:
		p := v.Points[v.Shown] // what speaks most against the claim; all of it may take twenty lines
		reasons = []string{fmt.Sprintf("not for N = %s under %s: %s", count(p.Nodes), claims.Place(p.Transport, p.Condition), p.How)}
	case v.Verdict != claims.Fails && v.Verdict != claims.Partly:
		reasons = nil
	}
	if !verbose { // the whole reason has them
		for _, t := range v.Tolerances {
			reasons = append(reasons, fmt.Sprintf("with a tolerance of %v", t))
		}
	}
	const hang = 4
	for _, reason := range reasons {
		for _, line := range strings.Split(strings.Repeat(" ", hang)+style.Wrap(reason, hang), "\n") {
			if _, err := fmt.Fprintln(w, style.Muted(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// coloured gives a word the colour of a verdict. A claim that was refuted as expected is not a
// fault.
func coloured(style layout.Style, status claims.Status, word string) string {
	switch verdictValue(status).Class {
	case "good":
		return style.Good(word)
	case "doubt":
		return style.Doubtful(word)
	case "bad":
		return style.Bad(word)
	}
	return style.Muted(word)
}
