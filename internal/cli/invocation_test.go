package cli

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc64"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/quorum"
	"dmebench/internal/experiment"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/workload"
)

// tested is a program that does nothing, and its commands.
func tested(t *testing.T) (*program, *cli.Command) {
	t.Helper()
	p := &program{catalog: catalog.All(), scenarios: fstest.MapFS{}, stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	app := p.app()
	return p, &cli.Command{Name: app.Name, Usage: app.Usage, Subcommands: app.Commands}
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

// plausible is a value that a flag takes, which may begin with a dash.
func plausible(f cli.Flag) string {
	switch f.(type) {
	case *cli.IntFlag:
		return "-3"
	case *cli.Uint64Flag:
		return "3"
	case *cli.Float64Flag:
		return "-0.5"
	case *cli.DurationFlag:
		return "-3s"
	case *cli.BoolFlag:
		return "false"
	}
	return "-value=x"
}

// What a command is told means the same before and after its arguments, in any case,
// with one dash or two, with the value in the same word or the next.
func TestFlagsStandAnywhere(t *testing.T) {
	p, root := tested(t)
	commands(root, func(path []string, c *cli.Command) {
		for _, f := range c.Flags {
			name, value := f.Names()[0], plausible(f)
			a, takes := arguments(strings.Join(path, " "))
			var argument []string
			switch {
			case takes && a.flag != name:
				argument = []string{"argument"}
			case !takes:
				for _, word := range strings.Fields(c.ArgsUsage) {
					if !strings.HasPrefix(word, "[") {
						argument = append(argument, word)
					}
				}
			}
			forms := [][]string{{"--" + name + "=" + value}, {"-" + name + "=" + value}, {"--" + strings.ToUpper(name) + "=" + value}}
			if takesValue(f) {
				forms = append(forms, []string{"--" + name, value}, []string{"-" + name, value})
				for _, alias := range f.Names()[1:] {
					forms = append(forms, []string{"-" + alias, value})
				}
			}
			var want []string
			for _, form := range forms {
				for _, words := range [][]string{
					slices.Concat(path, form, argument), slices.Concat(path, argument, form), slices.Concat(path, form, []string{"--"}, argument),
				} {
					v, err := p.understand(root, words)
					if err != nil {
						t.Errorf("%q: %v", words, err)
						continue
					}
					got := v.words()
					slices.Sort(got)
					if want == nil {
						want = got
						if !slices.Contains(want, "--"+name+"="+value) {
							t.Errorf("%q: read as %q", words, want)
						}
					}
					if !slices.Equal(got, want) {
						t.Errorf("%q: read as %q, not as %q", words, got, want)
					}
				}
			}
		}
	})
}

// The library reads every command line as it is meant.
func TestTheLibraryAgrees(t *testing.T) {
	p, root := tested(t)
	commands(root, func(path []string, c *cli.Command) {
		words := slices.Clone(path)
		want := make(map[string]string)
		for _, f := range c.Flags {
			if _, list := f.(*cli.StringSliceFlag); list {
				continue
			}
			words = append(words, "--"+f.Names()[0]+"="+plausible(f))
			want[f.Names()[0]] = plausible(f)
		}
		app := p.app()
		met := false
		for _, top := range app.Commands {
			for _, x := range append([]*cli.Command{top}, top.Subcommands...) {
				if x.Name != path[len(path)-1] || x == top != (len(path) == 1) {
					continue
				}
				x.Action = func(ctx *cli.Context) error {
					met = true
					for name, value := range want {
						if got := fmt.Sprint(ctx.Value(name)); got != value {
							t.Errorf("%v: --%s is %q, not %q", path, name, got, value)
						}
					}
					return nil
				}
			}
		}
		v, err := takeApart(root, words)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if err := app.RunContext(context.Background(), v.words()); err != nil || !met {
			t.Errorf("%v: %v", path, err)
		}
	})
}

func TestArguments(t *testing.T) {
	p, root := tested(t)
	for line, want := range map[string]string{
		"run maekawa -n 3":                                 "dmebench run --nodes=3 --algorithm=maekawa",
		"RUN -n7 Maekawa --json":                           "dmebench run --nodes=7 --json=true --algorithm=Maekawa",
		"check maekawa --fifo=false":                       "dmebench check --fifo=false --algorithm=maekawa",
		"validate maekawa raymond/messages-per-cs --quick": "dmebench validate --quick=true --algorithm=maekawa --claim=raymond/messages-per-cs",
		"sweep x.yaml --dry-run":                           "dmebench sweep --dry-run=true --file=x.yaml",
		"report -- -odd-name":                              "dmebench report --file=-odd-name",
		"compare A B --json":                               "dmebench compare --json=true -- A B",
		"compare --json A -- B":                            "dmebench compare --json=true -- A B",
		"list raymond":                                     "dmebench list --name=raymond",
		"list algorithms raymond --json":                   "dmebench list algorithms --json=true --name=raymond",
		"list quorums -n 7":                                "dmebench list quorums --nodes=7",
		"trace own.txt":                                    "dmebench trace --file=own.txt",
		"init mine":                                        "dmebench init -- mine",
	} {
		v, err := p.understand(root, strings.Fields(line))
		if err != nil || strings.Join(v.words(), " ") != want {
			t.Errorf("%s: %v: %q, want %q", line, err, strings.Join(v.words(), " "), want)
		}
	}
	for line, want := range map[string]string{
		"run a b":                          `run takes one argument, ALGORITHM; "b" is one too many`,
		"run a -a b":                       `run: the argument "a" and -a b say the same; leave one of them out`,
		"check maekawa --exhaustive false": `check takes one argument, ALGORITHM; "false" is one too many; write --exhaustive=false`,
		"doctor x": `doctor takes no arguments, but there is "x"; everything is given by flags, ` +
			`which 'dmebench doctor --help' lists`,
		"list quorum":                       "",
		"compare A B C":                     `compare takes 1 or 2 arguments, A [B], but there are 3; see 'dmebench compare --help'`,
		"run --nodes":                       "run: --nodes needs a value, N",
		"run --nodes x --cs":                "--nodes x: want a whole number, such as 7\nrun: --cs needs a value, DURATION",
		"run --algorithm=maekawa --fife=no": `unknown flag --fife; 'dmebench run --help' lists the flags`,
		"check --fife=no":                   `unknown flag --fife; did you mean '--fifo'?`,
		"check --fifo=no":                   `--fifo=no: want true or false`,
		"run --duration 5":                  `--duration 5: 5 has no unit; write 5ms, 5us or 5s; want one such as 10s or 500ms`,
		"--nodes":                           `unknown flag --nodes; 'dmebench help' lists the flags`,
		"help run x":                        `help tells of one command, and "x" is one too many; write 'dmebench help run'`,
	} {
		_, err := p.understand(root, strings.Fields(line))
		if got := fmt.Sprint(err); want != "" && got != want {
			t.Errorf("%s:\n%s\nwant\n%s", line, got, want)
		}
	}
}

// misspelt returns names that are one and two letters away: replaced, left out,
// added, or exchanged.
func misspelt(name string, rng *rand.Rand) (all []string) {
	letters := []rune(name)
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
	for range 2 {
		once := edit(letters)
		all = append(all, string(once), string(edit(once)))
	}
	return all
}

// Every name that there is, off by two letters, is suggested: of algorithms,
// networks, workloads, quorums, options, their values, commands and flags.
func TestNamesOffByTwoLetters(t *testing.T) {
	var names []string
	try := func(kind, name string, taken []string, line func(string) []string) {
		t.Helper()
		names = append(names, name)
		// Each name has its own mistakes, whatever other names there are.
		for _, wrong := range misspelt(name, rand.New(rand.NewPCG(7, crc64.Checksum([]byte(kind+name), crc64.MakeTable(crc64.ECMA))))) {
			if slices.ContainsFunc(taken, func(n string) bool { return strings.EqualFold(n, wrong) }) {
				continue
			}
			var stdout, stderr bytes.Buffer
			code := Run(append([]string{"dmebench"}, line(wrong)...), nil, &stdout, &stderr, catalog.All(), fstest.MapFS{})
			said := stderr.String()
			_, near, ok := strings.Cut(said, "did you mean '")
			near, _, _ = strings.Cut(near, "'?")
			if code != 64 || strings.Count(said, "\n") != 1 || !ok {
				t.Errorf("%s %s for %s: %d: %s", kind, wrong, name, code, said)
			} else if near = strings.TrimLeft(near, "-"); near != name && len(name) > 4 && len(near)+2 < len(name) {
				t.Errorf("%s %s for %s: %s", kind, wrong, name, said)
			}
		}
	}
	all := catalog.All()
	algorithms := run.Catalog(all).Names()
	for _, a := range all {
		try("algorithm", a.Name, algorithms, func(wrong string) []string { return []string{"run", wrong, "-n", "3"} })
		var options []string
		for _, o := range a.Options {
			options = append(options, o.Name)
		}
		for _, o := range a.Options {
			try("option", o.Name, options, func(wrong string) []string { return []string{"check", a.Name, "-n", "3", "--set", wrong + "=x"} })
			for _, w := range o.Words {
				if len(w) > 2 && o.Accepts("zz"+w) != nil {
					try("value", w, o.Words, func(wrong string) []string {
						return []string{"check", a.Name, "-n", "3", "--set", o.Name + "=" + wrong}
					})
				}
			}
		}
	}
	var networks, workloads []string
	for _, n := range run.Networks() {
		networks = append(networks, n.Name)
	}
	for _, k := range workload.Kinds() {
		workloads = append(workloads, k.Name)
	}
	for _, name := range networks {
		try("network", name, networks, func(wrong string) []string { return []string{"run", "maekawa", "-n", "3", "--transport", wrong} })
	}
	for _, name := range workloads {
		try("workload", name, workloads, func(wrong string) []string { return []string{"run", "maekawa", "-n", "3", "--workload", wrong} })
	}
	for _, name := range quorum.Names() {
		if !strings.Contains(name, ":") {
			try("quorum", name, quorum.Names(), func(wrong string) []string { return []string{"list", "quorums", "-n", "3", "--quorum", wrong} })
		}
	}
	_, root := tested(t)
	var tops []string
	for _, c := range root.Subcommands {
		tops = append(tops, c.Name)
	}
	commands(root, func(path []string, c *cli.Command) {
		if len(path) == 1 {
			try("command", c.Name, append(tops, "help"), func(wrong string) []string { return []string{wrong} })
		}
		var flags []string
		for _, f := range c.Flags {
			flags = append(flags, f.Names()...)
		}
		for _, f := range c.Flags {
			if name := f.Names()[0]; len(name) > 2 {
				try("flag", name, append(flags, "help", "h"), func(wrong string) []string { return append(slices.Clone(path), "--"+wrong+"=x") })
			}
		}
	})
	if len(names) < 250 {
		t.Errorf("%d names were tried; are all there?", len(names))
	}
}

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
	spec := runs.Spec{}.WithDefaults()
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
