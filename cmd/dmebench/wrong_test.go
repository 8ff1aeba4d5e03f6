package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// advice is found in every line that says what to do, or what would have done.
var advice = regexp.MustCompile(`did you mean|there (are|is|must)|want |write |choose |give |leave |name (a|an|one) |needs |` +
	`known here|'dmebench|missing|one of them|too many`)

// refused counts what wrong was asked for, of one script.
type refused struct{ inputs int }

// wrong CODE PATTERN COMMAND…: the command is refused with that code, in one line that
// matches the pattern and says what to do.
func (r *refused) wrong(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || neg {
		ts.Fatalf("usage: wrong CODE PATTERN COMMAND…")
	}
	exits(ts, false, append([]string{args[0]}, args[2:]...))
	r.inputs++
	said := ts.ReadFile("stderr")
	if strings.Count(said, "\n") != 1 || !advice.MatchString(said) {
		ts.Fatalf("want one line, with what to do; this is\n%s", said)
	}
	if !regexp.MustCompile(args[1]).MatchString(said) {
		ts.Fatalf("no match for %s in\n%s", args[1], said)
	}
}

// many N: there were so many wrong inputs at least.
func (r *refused) many(ts *testscript.TestScript, neg bool, args []string) {
	least, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: many N")
	}
	if r.inputs < least {
		ts.Fatalf("%d wrong inputs were tried, not %d", r.inputs, least)
	}
}
