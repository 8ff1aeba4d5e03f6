// Package house holds the tests that keep the architecture: which package may
// import which, and what an algorithm may not do because it is a pure state
// machine. It has no code but its tests.
//
// The rules speak of the packages themselves, not of their tests. Each rule is
// shown to fail on a small synthetic module in testdata.
package house
