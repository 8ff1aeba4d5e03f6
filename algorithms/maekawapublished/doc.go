// Package maekawapublished holds two texts that describe Maekawa's algorithm,
// executed as they are printed. Both can deadlock, and both can let two nodes
// in: they are negative controls, which a search must catch. The algorithm that
// works is in package maekawa.
//
// # The paper
//
// [Paper] is section 4 of
//
//	M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems,
//	ACM Transactions on Computer Systems 3(2), May 1985, pp. 145–159.
//
// Where the text leaves room it is read kindly: a deferred INQUIRE is kept for
// each member and answered at the next FAILED, and lapses with the request; a
// node that asks for nothing ignores an INQUIRE; "has received a FAILED" means,
// since it asked. What is literal and wrong:
//
//   - a REQUEST that caused an INQUIRE gets no FAILED when a still more preceding
//     one passes it (step (2)), so its node defers for ever what others ask of it;
//   - a member that was relinquished does not count as one that failed (step (3));
//   - an INQUIRE that comes after the RELEASE is ignored, unless the node has asked
//     again by then: then it is answered, for a lock that is somebody else's;
//   - a RELINQUISH and a RELEASE free the lock, whoever has it (steps (4), (7));
//   - numbers exceed those of the REQUESTs that the node has seen (step (1)), and
//     it sees few.
//
// # The textbook
//
// [Textbook] is algorithm 9.5 with section 9.8.1 of Kshemkalyani and Singhal,
// Distributed Computing. Beyond the above,
//
//   - a YIELD needs a FAILED and an earlier YIELD, so that none can be the first.
//     With yield=or one of the two is enough, which shows the other faults;
//   - an INQUIRE that cannot be answered is forgotten;
//   - FAILED compares with the granted request only, not with those that wait;
//   - several INQUIREs are sent for one grant; of two YIELDs the second revokes
//     the grant of another site.
package maekawapublished
