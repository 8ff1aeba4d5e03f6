// Package testkit is the room of what tests share: generated files that are compared
// (golden), hosts as network namespaces (netns), algorithms that are broken on purpose
// (toys), and the rules of the house, which say who may import whom (house).
//
// Nothing but tests imports it.
package testkit
