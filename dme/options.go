package dme

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Option is a setting of an algorithm, a workload or a transport, given as
// --set name=value.
type Option struct {
	Name    string
	Default string
	Words   []string // values that are words: "plane", "grid"
	Forms   []string // how a person may write others: "kary:K", "file:F"
	Samples []string // values that stand for a form where everything is tried: "kary:3"
	Help    string   // one sentence

	// Valid says why a value is not accepted; nil where it must be one of Words.
	Valid func(value string) error
}

// Values says how a value may be written: "plane|grid|file:F".
func (o Option) Values() string { return strings.Join(slices.Concat(o.Words, o.Forms), "|") }

// Examples returns the values that are tried where every kind of value is to be.
func (o Option) Examples() []string { return slices.Concat(o.Words, o.Samples) }

// Accepts reports why value is not accepted, nil if it is.
func (o Option) Accepts(value string) error {
	if o.Valid == nil {
		if slices.Contains(o.Words, value) {
			return nil
		}
		return fmt.Errorf("%s=%s: want %s", o.Name, value, o.Values())
	}
	if err := o.Valid(value); err != nil {
		return fmt.Errorf("%s=%s: %w (want %s)", o.Name, value, err, o.Values())
	}
	return nil
}

// Options holds a value for every option of an algorithm: a default where
// nothing was set.
type Options map[string]string

// Get returns the value of the option. An option that was not declared is a
// programming error.
func (o Options) Get(name string) string {
	v, ok := o[name]
	if !ok {
		panic("dme: option " + name + " is not declared")
	}
	return v
}

// Resolve completes set with the defaults of a's options. Unknown names and
// values are reported all at once.
func (a *Algorithm) Resolve(set map[string]string) (Options, error) {
	opt, err := ResolveOptions(a.Options, set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return opt, nil
}

// ResolveOptions completes set with the defaults of the declared options.
func ResolveOptions(declared []Option, set map[string]string) (Options, error) {
	opt := make(Options, len(declared))
	var errs []error
	var names []string
	for _, o := range declared {
		names = append(names, o.Name)
		opt[o.Name] = o.Default
		if v, ok := set[o.Name]; ok {
			opt[o.Name] = v
			if err := o.Accepts(v); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(names, name) {
			known := "there are none"
			if len(names) > 0 {
				known = "there are " + strings.Join(names, ", ")
			}
			errs = append(errs, fmt.Errorf("unknown option %q; %s", name, known))
		}
	}
	return opt, errors.Join(errs...)
}
