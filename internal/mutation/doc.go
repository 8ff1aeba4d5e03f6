// Package mutation plants faults in the program and tells which tests notice them:
// mutation testing (DeMillo, Lipton and Sayward, "Hints on test data selection", 1978).
//
// Compiling a program for each fault would take longer than its tests, so all chosen
// mutants are compiled at once, each behind a condition (mutant schemata: Untch, Offutt
// and Harrold, "Mutation analysis using mutant schemata", 1993). The rewritten files
// reach the compiler as an overlay; nothing in the source tree changes. Each test then
// runs once with no mutant active, which tells how long it takes and whose places it
// reaches, and each mutant meets the tests that reach it, the quick ones first.
//
// A mutant is noticed when a test fails or does not end. One that no test can notice,
// because the program does the same with it, is listed in equivalent.txt with the
// reason. Mutants are chosen by a seed and not by a person: the choice depends on
// what they are and not on where they stand, so that it stays nearly the same
// while the program around them changes.
package mutation
