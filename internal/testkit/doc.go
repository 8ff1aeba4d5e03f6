// Package testkit is what tests share: how much they do, files of the repository that are
// compared with what they should hold, and several hosts made of this one. Below it are
// algorithms that are broken on purpose (toys), and what packages of algorithms say as data
// (suite). Its own tests are the rules of the house, which say who may import whom.
//
// Hosts are Linux network namespaces with addresses of their own on a bridge in a namespace
// of its own, each with a name of its own and, where a test asks for it, a clock that is
// really off. Nothing of this host's network is touched or reached. [NewTestbed] makes
// them by scripts/testbed/netns.sh, which is what people use, and skips the test where
// they cannot be made: not as root, not on Linux, without ip(8) and nsenter(1), or where
// namespaces are not permitted. They are gone at the end of the test, and every process on
// them is killed. A test that was killed itself leaves hosts with its process's number in
// their names; the next test that calls NewTestbed removes them.
//
// Nothing but tests imports it.
package testkit
