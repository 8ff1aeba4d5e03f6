package commandline

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment"
	"dmebench/internal/run"
	"dmebench/result"
)

// Every command has help, which names each of its flags once, with what it means, and
// fits 80 columns where it is written to a file.
func TestHelp(t *testing.T) {
	p, root := tested(t)
	out := p.stdout.(*bytes.Buffer)
	commands(root, func(path []string, c *cli.Command) {
		for _, words := range [][]string{append([]string{"help"}, path...), append(append([]string{}, path...), "-h")} {
			out.Reset()
			v, err := p.understand(root, words)
			if err != nil || !v.help {
				t.Errorf("%q: %v", words, err)
				continue
			}
			if err := p.help(v); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > plainHelpWidth && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%q: a line of %d characters: %s", words, n, line)
				}
			}
			for _, f := range c.Flags {
				name := regexp.MustCompile(`(?m)^  (-+[\w-]+, )*--` + f.Names()[0] + `( |$)`)
				if n := len(name.FindAllString(text, -1)); n != 1 {
					t.Errorf("%q: --%s is explained %d times", words, f.Names()[0], n)
				}
				value, meaning := placeholder(f)
				if meaning == "" || takesValue(f) != (value != "") {
					t.Errorf("%q: --%s: value %q, meaning %q", words, f.Names()[0], value, meaning)
				}
			}
			if strings.ContainsAny(text, "«»`") || !strings.HasPrefix(text, v.title()+": ") {
				t.Errorf("%q:\n%s", words, text)
			}
		}
	})
}

// Defaults that are told in words are those that hold.
func TestDefaultsAreTrue(t *testing.T) {
	_, root := tested(t)
	spec := result.Spec{}.WithDefaults()
	network := func(name, option string) string {
		n, err := run.LookupNetwork(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range n.Options {
			if o.Name == option {
				return o.Default
			}
		}
		t.Fatalf("%s has no option %s", name, option)
		return ""
	}
	file, err := experiment.Matrix{Name: "x", Algorithms: []string{"raymond"}, Nodes: []int{3}}.File(nil)
	if err != nil {
		t.Fatal(err)
	}
	cell := file.Experiment
	want := map[string]string{
		"run --transport": spec.Transport, "run --workload": spec.Workload, "run --cs": spec.CS, "run --warmup": spec.Warmup,
		"run --stall-after": spec.StallAfter.String(), "run --nodes-per-worker": fmt.Sprint(spec.NodesPerWorker),
		"run --seed":          fmt.Sprint(spec.Seed),
		"run --udp-layer":     network("udp", run.LayerOption),
		"sweep --repetitions": fmt.Sprint(cell.Repetitions), "sweep --seed": fmt.Sprint(cell.Seed), "sweep --transport": cell.Transports[0].Name,
		"sweep --workload": cell.Workloads[0].Name, "sweep --name": experiment.DefaultMatrix, "sweep --cs": spec.CS,
		"sweep --warmup": spec.Warmup, "sweep --stall-after": spec.StallAfter.String(),
		"sweep --nodes-per-worker": fmt.Sprint(spec.NodesPerWorker),
	}
	told := make(map[string]string)
	commands(root, func(path []string, c *cli.Command) {
		for _, f := range c.Flags {
			row := flagHelp(f)
			if m := regexp.MustCompile(`\(default: ([^)]+)\)$`).FindStringSubmatch(row[1]); m != nil {
				told[strings.Join(path, " ")+" --"+f.Names()[0]] = m[1]
			}
			if d := defaultOf(f); d != "" && !strings.Contains(row[1], "default: "+d) {
				t.Errorf("%v: the default of --%s is %s: %s", path, f.Names()[0], d, row[1])
			}
		}
	})
	for flag, d := range want {
		if told[flag] != d {
			t.Errorf("%s: told is %q, and %q holds", flag, told[flag], d)
		}
	}
}
