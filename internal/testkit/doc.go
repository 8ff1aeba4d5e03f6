// Package testkit is what tests share: how much they do, files of the repository that are
// compared with what they should hold, and several hosts made of this one. Below it are
// algorithms that are broken on purpose (toys), and what packages of algorithms say as data
// (suite). Its own tests are the rules of the house. Only tests and the suites that they
// call import it.
//
// Hosts are Linux network namespaces on a bridge of their own, which [NewTestbed] makes by
// scripts/testbed/netns.sh. They and their processes are gone at the end of the test; those
// of a test that was killed are removed by the next.
package testkit
