package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/terminal"
)

// Widths of help: of what is no terminal, and the widest that is pleasant to read.
const (
	plainHelpWidth = 80
	mostHelpWidth  = 110
)

// helpStyle is how help is laid out on standard output.
func (p *program) helpStyle() terminal.Style {
	s := p.printed()
	if s.Width == 0 {
		s.Width = plainHelpWidth
	}
	s.Width = min(s.Width, mostHelpWidth)
	return s
}

// help prints what a command does, or the program where no command is named.
func (p *program) help(v *invocation) error {
	var text strings.Builder
	s := p.helpStyle()
	if len(v.path) == 0 {
		programHelp(&text, s, v.root)
	} else {
		commandHelp(&text, s, v)
	}
	_, err := io.WriteString(p.stdout, text.String())
	return err
}

func programHelp(w *strings.Builder, s terminal.Style, root *cli.Command) {
	paragraph(w, s, 0, root.Name+": "+root.Usage)
	fmt.Fprintf(w, "\n%s\n", s.Strong("Usage"))
	paragraph(w, s, 2, root.Name+" COMMAND [ARGUMENT] [FLAGS]")
	fmt.Fprintf(w, "\n%s\n", s.Strong("Commands"))
	var rows [][2]string
	for _, c := range root.Subcommands {
		if !c.Hidden {
			rows = append(rows, [2]string{c.Name, c.Usage})
		}
	}
	columns(w, s, rows)
	w.WriteString("\n")
	paragraph(w, s, 0, "'"+root.Name+" help COMMAND' tells more of each. Flags may stand before and after arguments, "+
		"and names may be in any case.")
}

func commandHelp(w *strings.Builder, s terminal.Style, v *invocation) {
	c := v.command()
	paragraph(w, s, 0, v.title()+": "+c.Usage)
	fmt.Fprintf(w, "\n%s\n", s.Strong("Usage"))
	usage := v.title()
	if a := argumentsOf(v.name(), c); a != "" {
		usage += " " + a
	}
	if len(c.Flags) > 0 {
		usage += " [FLAGS]"
	}
	paragraph(w, s, 2, usage)
	if c.Description != "" {
		w.WriteString("\n")
		filled(w, s, c.Description)
	}
	if len(c.Subcommands) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.Strong("Commands"))
		var rows [][2]string
		for _, sub := range c.Subcommands {
			rows = append(rows, [2]string{sub.Name, sub.Usage})
		}
		columns(w, s, rows)
	}
	if len(c.Flags) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.Strong("Flags"))
		var rows [][2]string
		for _, f := range c.Flags {
			rows = append(rows, flagHelp(f))
		}
		columns(w, s, rows)
	}
}

// inColumns is a line of a description that begins in a column of its own, after
// spaces or after a word and spaces.
var inColumns = regexp.MustCompile(`^( *\S+ {2,}| +)(.*)$`)

// filled writes a description: paragraphs, and lines that begin with spaces, or with a
// word and two spaces, each of which goes on in its column.
func filled(w *strings.Builder, s terminal.Style, text string) {
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			paragraph(w, s, 0, strings.Join(lines, " "))
			lines = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if m := inColumns.FindStringSubmatch(line); m != nil {
			flush()
			w.WriteString(m[1] + s.Wrap(m[2], utf8.RuneCountInString(m[1])) + "\n")
			continue
		}
		if line == "" {
			flush()
			w.WriteString("\n")
			continue
		}
		lines = append(lines, line)
	}
	flush()
}

// flagHelp is a flag with its value, and what it means, with its default.
func flagHelp(f cli.Flag) [2]string {
	value, meaning := placeholder(f)
	var names []string
	for _, n := range f.Names()[1:] {
		dashes := "--"
		if len(n) == 1 {
			dashes = "-"
		}
		names = append(names, dashes+n)
	}
	left := strings.Join(append(names, "--"+f.Names()[0]), ", ")
	if value != "" {
		left += " " + value
	}
	if d := defaultOf(f); d != "" && !strings.Contains(meaning, "(default") {
		meaning += " (default: " + d + ")"
	}
	return [2]string{left, meaning}
}

// quoted is the value's name within a flag's usage, as the library writes it.
var quoted = regexp.MustCompile("`([^`]+)`")

// placeholder returns the name of a flag's value, "" for one that takes none, and
// what the flag means.
func placeholder(f cli.Flag) (value, meaning string) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	meaning = d.GetUsage()
	if m := quoted.FindStringSubmatch(meaning); m != nil {
		value, meaning = m[1], quoted.ReplaceAllString(meaning, "$1")
	} else if d.TakesValue() {
		switch f.(type) {
		case *cli.IntFlag, *cli.Uint64Flag:
			value = "N"
		case *cli.Float64Flag:
			value = "X"
		case *cli.DurationFlag:
			value = "DURATION"
		default:
			value = "VALUE"
		}
	}
	return value, meaning
}

// defaultOf is the value that a flag has where it is not given, "" where it has
// none.
func defaultOf(f cli.Flag) string {
	switch f := f.(type) {
	case *cli.StringFlag:
		return f.Value
	case *cli.IntFlag:
		if f.Value != 0 {
			return fmt.Sprint(f.Value)
		}
	case *cli.Uint64Flag:
		if f.Value != 0 {
			return fmt.Sprint(f.Value)
		}
	case *cli.Float64Flag:
		if f.Value != 0 {
			return fmt.Sprint(f.Value)
		}
	case *cli.DurationFlag:
		if f.Value != 0 {
			return f.Value.String()
		}
	case *cli.BoolFlag:
		if f.Value {
			return "true"
		}
	}
	return ""
}

// paragraph writes a text that begins at a column, and ends the line.
func paragraph(w *strings.Builder, s terminal.Style, indent int, text string) {
	w.WriteString(strings.Repeat(" ", indent) + s.Wrap(text, indent) + "\n")
}

// widestLeft is how wide the left column may get; what is wider has a line of its
// own.
const widestLeft = 28

// columns writes names and what they mean, the latter in a column of its own.
func columns(w *strings.Builder, s terminal.Style, rows [][2]string) {
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= widestLeft {
			left = max(left, n)
		}
	}
	left = min(left, s.Width/3)
	hang := 2 + left + 2
	for _, r := range rows {
		n := utf8.RuneCountInString(r[0])
		w.WriteString("  " + s.Strong(r[0]))
		if n > left {
			w.WriteString("\n" + strings.Repeat(" ", hang))
		} else {
			w.WriteString(strings.Repeat(" ", left-n+2))
		}
		w.WriteString(s.Wrap(r[1], hang) + "\n")
	}
}
