package cli

import (
	"bytes"
	"fmt"
	"hash/crc64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/experiment"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
	"dmebench/units"
)

// tested is a program whose output nobody sees.
func tested() *program {
	return &program{catalog: algorithms.All(), scenarios: fstest.MapFS{}, stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
}

func rootOf(p *program) *cli.Command {
	app := p.app()
	return &cli.Command{Name: app.Name, Subcommands: app.Commands, Flags: app.Flags}
}

// commands calls do with every command and sub-command.
func commands(root *cli.Command, do func(path []string, c *cli.Command)) {
	for _, c := range root.Subcommands {
		do([]string{c.Name}, c)
		for _, sub := range c.Subcommands {
			do([]string{c.Name, sub.Name}, sub)
		}
	}
}

// A flag means the same before and after arguments, in any case, with one dash or two, by
// each of its names, with the value in the same word or the next.
func TestFlagsStandAnywhere(t *testing.T) {
	root := rootOf(tested())
	commands(root, func(path []string, c *cli.Command) {
		for _, f := range c.Flags {
			name, value := f.Names()[0], "-3"
			if !takesValue(f) {
				value = "false"
			}
			forms := [][]string{{"--" + name + "=" + value}, {"-" + name + "=" + value}, {"--" + strings.ToUpper(name) + "=" + value}}
			for _, alias := range f.Names() {
				if _, lacks := mayLack(f, []string{value}); takesValue(f) && !lacks {
					forms = append(forms, []string{"-" + alias, value})
				}
			}
			want := slices.Concat([]string{"dmebench"}, path, []string{"--" + name + "=" + value, "--", "argument"})
			for _, form := range forms {
				for _, words := range [][]string{
					slices.Concat(path, form, []string{"argument"}), slices.Concat(path, []string{"argument"}, form),
					slices.Concat(path, form, []string{"--", "argument"}),
				} {
					if got := arrange(root, words); !slices.Equal(got, want) {
						t.Errorf("%q: read as %q, want %q", words, got, want)
					}
				}
			}
		}
	})
}

func TestArrange(t *testing.T) {
	root := rootOf(tested())
	for line, want := range map[string]string{
		"RUN -n7 Maekawa --json":     "dmebench run --nodes=7 --json -- Maekawa",
		"check maekawa --fifo=false": "dmebench check --fifo=false -- maekawa",
		"report -- -odd-name":        "dmebench report -- -odd-name",
		"report --serve DIR":         "dmebench report --serve=127.0.0.1:8642 -- DIR",
		"report --serve [::1]:9 DIR": "dmebench report --serve=[::1]:9 -- DIR",
		"sweep FILE --serve :80":     "dmebench sweep --serve=:80 -- FILE",
		"sweep FILE --serve --fresh": "dmebench sweep --serve=127.0.0.1:8642 --fresh -- FILE",
		"compare --json A -- B":      "dmebench compare --json -- A B",
		"list --JSON Quorums -n 7":   "dmebench list quorums --json --nodes=7",
		"run maekawa --nodes":        "dmebench run --nodes",
		"run maekawa --bogus x -n 3": "dmebench run --bogus --nodes=3 -- maekawa x",
		"help Run":                   "dmebench run --help",
		"run help":                   "dmebench run --help",
		"run maekawa -h -n 3":        "dmebench run --help",
		"--version":                  "dmebench --version",
		"rnu maekawa --nodes 3":      "dmebench -- rnu",
		"":                           "dmebench",
	} {
		if got := strings.Join(arrange(root, strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// misspelt returns names that are one and two letters away: replaced, left out, added, or
// exchanged.
func misspelt(name string) (all []string) {
	// Each name has its own mistakes, whatever other names there are.
	rng := rand.New(rand.NewPCG(7, crc64.Checksum([]byte(name), crc64.MakeTable(crc64.ECMA))))
	edit := func(r []rune) []rune {
		i := rng.IntN(len(r))
		switch r = slices.Clone(r); rng.IntN(4) {
		case 0:
			r[i] = 'z'
		case 1:
			r = slices.Insert(r, i, 'z')
		case 2:
			if len(r) > 3 {
				r = slices.Delete(r, i, i+1)
			}
		default:
			if i > 0 {
				r[i-1], r[i] = r[i], r[i-1]
			}
		}
		return r
	}
	once := edit([]rune(name))
	return []string{string(once), string(edit(once))}
}

// The name of every command and flag, and of whatever flags name, is suggested if it is
// off by two letters.
func TestNamesOffByTwoLetters(t *testing.T) {
	testkit.TakesLong(t)
	try := func(name string, taken []string, line func(string) []string) {
		for _, wrong := range misspelt(name) {
			if slices.ContainsFunc(taken, func(n string) bool { return strings.EqualFold(n, wrong) }) {
				continue
			}
			code, _, stderr := dmebench(line(wrong)...)
			if code != 64 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "did you mean '") {
				t.Errorf("%s for %s: %d: %s", wrong, name, code, stderr)
			}
		}
	}
	root := rootOf(tested())
	tops := units.Texts(root.Subcommands, func(c *cli.Command) string { return c.Name })
	commands(root, func(path []string, c *cli.Command) {
		if c.SkipFlagParsing || c.Name == "completion" {
			return
		}
		if len(path) == 1 {
			try(c.Name, append(tops, "help"), func(wrong string) []string { return []string{wrong} })
		}
		var flags []string
		for _, f := range c.Flags {
			flags = append(flags, f.Names()...)
		}
		for _, f := range c.Flags {
			if name := f.Names()[0]; len(name) > 2 {
				try(name, append(flags, "help", "h"), func(wrong string) []string { return append(slices.Clone(path), "--"+wrong+"=x") })
			}
		}
	})
	for _, a := range algorithms.All() {
		try(a.Name, run.Catalog(algorithms.All()).Names(), func(wrong string) []string { return []string{"run", wrong, "-n", "3"} })
		options := units.Texts(a.Options, func(o dme.Option) string { return o.Name })
		for _, name := range options {
			try(name, options, func(wrong string) []string { return []string{"check", a.Name, "-n", "3", "--set", wrong + "=x"} })
		}
	}
}

// The help of every command begins with examples, of commands and flags that there are;
// what stands in one line of it fits one line.
func TestHelp(t *testing.T) {
	root := rootOf(tested())
	visible := 0
	commands(root, func(path []string, c *cli.Command) {
		if c.SkipFlagParsing {
			return
		}
		if len(path) == 1 && !c.Hidden {
			visible++
		}
		code, help, _ := dmebench(append(slices.Clone(path), "--help")...)
		title := "NAME:\n   dmebench " + strings.Join(path, " ") + " - " + c.Usage + "\n\nUSAGE:\n   "
		if code != 0 || !strings.HasPrefix(help, title) || strings.Count(help, "\n") > 70 {
			t.Errorf("%q: %d, %d lines:\n%s", path, code, strings.Count(help, "\n"), help)
		}
		for _, f := range c.Flags {
			if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
				continue
			}
			if n := strings.Count(help, "\n   --"+f.Names()[0]+" ") + strings.Count(help, "\n   --"+f.Names()[0]+","); n != 1 {
				t.Errorf("%q: --%s is explained %d times", path, f.Names()[0], n)
			}
		}
		common, _, _ := strings.Cut(help, "\n   Other hosts\n")
		for line := range strings.Lines(common) {
			if n := utf8.RuneCountInString(line); n > 121 {
				t.Errorf("%q: a line of %d characters: %s", path, n, line)
			}
		}
		for line := range strings.Lines(c.UsageText) {
			example, ok := strings.CutPrefix(strings.TrimSpace(strings.SplitN(line, "   ", 2)[0]), "dmebench ")
			if !ok {
				continue
			}
			for _, word := range strings.Fields(example) {
				if strings.HasPrefix(word, "-") && flagOf(c, strings.TrimLeft(word, "-")) == nil && !strings.Contains(example, "&&") {
					t.Errorf("%q: there is no flag %s, as in %q", path, word, example)
				}
			}
		}
		if examples := strings.Count(c.UsageText, "dmebench "); len(path) == 1 && examples < 2 {
			t.Errorf("%q: %d examples", path, examples)
		}
	})
	if visible > 16 {
		t.Errorf("%d commands, want 16 at most", visible)
	}
	_, help, _ := dmebench()
	if i, j := strings.Index(help, "Measure:"), strings.Index(help, "Several hosts:"); i < 0 || j < i || strings.Contains(help, "prove") {
		t.Errorf("the groups are not as they should be:\n%s", help)
	}
}

// Defaults that are said in words are those that hold.
func TestDefaultsAreTrue(t *testing.T) {
	root := rootOf(tested())
	spec := runs.Spec{}.WithDefaults()
	file, err := experiment.Matrix(runs.Experiment{Name: "x", Algorithms: experiment.Entries([]string{"raymond"}), Nodes: []int{3}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cell := file.Experiment
	udp, err := run.LookupNetwork("udp")
	if err != nil {
		t.Fatal(err)
	}
	layer := udp.Options[slices.IndexFunc(udp.Options, func(o dme.Option) bool { return o.Name == run.LayerOption })].Default
	for flag, want := range map[string]string{
		"run transport": spec.Transport, "run workload": spec.Workload, "run cs": spec.CS, "run warmup": spec.Warmup,
		"run stall-after": spec.StallAfter.String(), "run nodes-per-worker": fmt.Sprint(spec.NodesPerWorker), "run seed": fmt.Sprint(spec.Seed),
		"run udp-layer": layer, "sweep repetitions": fmt.Sprint(cell.Repetitions), "sweep transport": cell.Transports[0].Name,
		"sweep workload": cell.Workloads[0].Name, "sweep name": experiment.DefaultMatrix, "sweep cs": spec.CS,
		"sweep warmup": spec.Warmup, "sweep stall-after": spec.StallAfter.String(), "sweep nodes-per-worker": fmt.Sprint(spec.NodesPerWorker),
	} {
		command, name, _ := strings.Cut(flag, " ")
		f := flagOf(subcommand(root, command), name).(cli.DocGenerationFlag)
		if said := strings.Trim(f.GetDefaultText(), `"`); said != want {
			t.Errorf("%s: said is %q, and %q holds", flag, said, want)
		}
	}
}
