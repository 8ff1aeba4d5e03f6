package dme

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/units"
)

// Option is a setting of an algorithm, a workload or a transport, given as --set name=value.
type Option struct {
	Name    string
	Default string
	Words   []string // values that are words: "plane", "grid"
	Forms   []string // how a person may write others: "kary:K", "file:F"
	Samples []string // values that stand for a form where everything is tried: "kary:3"
	Help    string   // one sentence

	// Valid says why a value that is none of Words is not accepted; nil if it must be one.
	Valid func(value string) error
}

// Choice returns an option whose values are words, the default first.
func Choice(name, help string, words ...string) Option {
	return Option{Name: name, Default: words[0], Words: words, Help: help}
}

// Values says how a value may be written: "plane|grid|file:F".
func (o Option) Values() string { return strings.Join(slices.Concat(o.Words, o.Forms), "|") }

// Examples returns the values that are tried where every kind of value is to be.
func (o Option) Examples() []string { return slices.Concat(o.Words, o.Samples) }

// Accepts reports why value is not accepted, nil if it is.
func (o Option) Accepts(value string) error {
	if slices.Contains(o.Words, value) {
		return nil
	}
	if o.Valid == nil {
		return fmt.Errorf("%s=%s: want %s%s", o.Name, value, o.Values(), units.Hint(value, o.Words))
	}
	if err := o.Valid(value); err != nil {
		return fmt.Errorf("%s=%s: %w (want %s)%s", o.Name, value, err, o.Values(), units.Hint(value, o.Words))
	}
	return nil
}

// Valid returns an [Option.Valid] that accepts what a function can read.
func Valid[T any](parse func(text string) (T, error)) func(value string) error {
	return func(value string) error {
		_, err := parse(value)
		return err
	}
}

// Whole returns a function that reads a whole number from low to high, in decimal digits alone.
func Whole(low, high int) func(text string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || int(n) < low || int(n) > high {
			return 0, fmt.Errorf("not a whole number %s", span(low, high, math.MaxInt))
		}
		return int(n), nil
	}
}

// Lasting returns a function that reads a duration from low to high, as [ParseDuration] does.
func Lasting(low, high time.Duration) func(text string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := ParseDuration(text)
		switch {
		case err != nil || low <= d && d <= high:
			return d, err
		case low == 1:
			return 0, fmt.Errorf("not a duration above 0 and at most %v", high)
		}
		return 0, fmt.Errorf("not a duration %s", span(low, high, math.MaxInt64))
	}
}

func span[T comparable](low, high, most T) string {
	if high == most {
		return fmt.Sprintf("of at least %v", low)
	}
	return fmt.Sprintf("from %v to %v", low, high)
}

// Fraction reads a number from 0 to 1.
func Fraction(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if percent, bad := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64); bad == nil && strings.HasSuffix(text, "%") {
		return 0, fmt.Errorf("not a number from 0 to 1, such as %v", percent/100)
	}
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, errors.New("not a number from 0 to 1")
	}
	return x, nil
}

// canonical returns value as it is declared, if it differs in case alone: a word, or the word
// before the colon of a form such as "kary:K". Any other value stays as it is.
func (o Option) canonical(value string) string {
	if o.Accepts(value) == nil {
		return value
	}
	if word, ok := units.FindName(value, o.Words); ok {
		return word
	}
	before, after, _ := strings.Cut(value, ":")
	for _, form := range o.Forms {
		if word, _, ok := strings.Cut(form, ":"); ok && strings.EqualFold(word, before) && o.Accepts(word+":"+after) == nil {
			return word + ":" + after
		}
	}
	return value
}

// Canonical returns set with the names of the declared options, and their values
// that are words, in the case in which they are declared. A name that is not declared
// stays as it is. A nil set stays nil.
func Canonical(set map[string]string, declared ...[]Option) map[string]string {
	if set == nil {
		return nil
	}
	all := slices.Concat(declared...)
	names := optionNames(all)
	canonical := make(map[string]string, len(set))
	for given, value := range set {
		name, ok := units.FindName(given, names)
		_, exact := set[name]
		_, taken := canonical[name]
		if !ok || taken || exact && name != given {
			name = given // unknown, or set in two ways: to be refused
		}
		for _, o := range all {
			if o.Name == name {
				value = o.canonical(value)
			}
		}
		canonical[name] = value
	}
	return canonical
}

func optionNames(options []Option) []string {
	return units.Texts(options, func(o Option) string { return o.Name })
}

// Assigned writes settings in the order of their names: "hot=3", "share=0.5".
func Assigned(set map[string]string) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		words = append(words, name+"="+set[name])
	}
	return words
}

// Options holds a value for every option of an algorithm: a default if nothing was set.
type Options map[string]string

// Get returns the value of the option. An option that was not declared is a programming error.
func (o Options) Get(name string) string {
	v, ok := o[name]
	if !ok {
		panic("dme: option " + name + " is not declared")
	}
	return v
}

// Resolve completes set with the defaults of a's options, or reports all that is unknown.
func (a *Algorithm) Resolve(set map[string]string) (Options, error) {
	opt, err := ResolveOptions(a.Options, set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return opt, nil
}

// ResolveOptions completes set with the defaults of the declared options. Names
// and words may be in any case.
func ResolveOptions(declared []Option, set map[string]string) (Options, error) {
	opt := make(Options, len(declared))
	set = Canonical(set, declared)
	names := optionNames(declared)
	var errs []error
	for _, o := range declared {
		opt[o.Name] = o.Default
		if v, ok := set[o.Name]; ok {
			opt[o.Name] = v
			errs = append(errs, o.Accepts(v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(names, name) {
			known := "there are none"
			if len(names) > 0 {
				known = "there are " + strings.Join(names, ", ")
			}
			errs = append(errs, units.UnknownName("option", name, names, known))
		}
	}
	return opt, errors.Join(errs...)
}

// ParseDuration reads a duration such as 100us, 5ms or 1m30s, as
// [time.ParseDuration] does. Its errors are for people: they say what a number
// without a unit lacks.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	if _, bad := strconv.ParseFloat(text, 64); bad == nil {
		return 0, fmt.Errorf("%s has no unit; write %sms, %sus or %ss", text, text, text, text)
	}
	return 0, errors.New("not a duration")
}

// Line is a line of a file that an option names.
type Line struct {
	Number int    // from 1
	Text   string // without what follows a #
}

// ReadLines reads the lines that are not blank by a function like [Config.ReadFile], or nil.
func ReadLines(read func(name string) ([]byte, error), name string) ([]Line, error) {
	if read == nil {
		return nil, errors.New("no file can be read here; choose a value that names none")
	}
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	var lines []Line
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, Line{number, line})
		}
	}
	return lines, nil
}

// ParseNode reads the number of one of n nodes.
func ParseNode(word string, n int) (NodeID, error) {
	id, err := strconv.ParseUint(word, 10, 32)
	if err != nil || id < 1 || id > uint64(n) {
		return None, fmt.Errorf("%q is not a node; there are the nodes 1 to %d", word, n)
	}
	return NodeID(id), nil
}
