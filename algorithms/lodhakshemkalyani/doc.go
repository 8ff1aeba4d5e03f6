// Package lodhakshemkalyani is the fair algorithm of
//
//	S. Lodha and A. D. Kshemkalyani, A Fair Distributed Mutual Exclusion
//	Algorithm, IEEE Transactions on Parallel and Distributed Systems 11(6), 2000,
//
// as the textbook (Kshemkalyani and Singhal, Distributed Computing, chapter 9)
// gives it in section 9.6, Algorithm 9.4.
//
// It is the algorithm of Ricart and Agrawala with fewer messages. Two requests
// are concurrent if each arrived at the other's process after that had made its
// own; then each stands for the REPLY to the other. A process P_i queues in
// LRQ_i the requests that are concurrent with its own, and leaves its critical
// section by one FLUSH to the next of them: it says that all requests up to P_i's
// have been satisfied. Requests that are not concurrent get a REPLY, which
// says the same.
//
// # Departures from the printed text
//
// Read literally, Algorithm 9.4 stops with one request of each of three
// processes, and lets two of them in with two requests each, on reliable
// channels in order. Repairs, each marked in the code by its name:
//
//   - L1. Step (3bi) inserts a REQUEST that the process knows, or could know, to
//     have been satisfied; nothing removes it again. A process keeps in done
//     the lowest-priority request of which it has heard that it was satisfied,
//     and sets RV only for a request whose priority is not lower.
//   - L2. A REQUEST that serves as an implicit REPLY brings no news of satisfied
//     requests, as a REPLY would. It carries its sender's done.
//   - L3. A FLUSH sets RV (step (6a)) also when it arrives during the receiver's
//     next request, for which its sender has not replied. It does not set RV
//     here, and a REPLY names the request that it answers and sets RV for that
//     one only.
//   - L4. My_Sequence_Number does not enter Highest_Sequence_Number_Seen, so
//     that a process can use a number twice. Here it does.
//   - A REPLY and a FLUSH carry done, which is never less news than the request
//     R_i that the text sends. A process at rest has an empty LRQ and RV:
//     steps (2b) and (2f) clear them anyway.
//   - Section 9.6.1 asks for channels without errors only. They must keep order,
//     too: a REQUEST that overtakes the sender's REPLY passes for concurrent.
//
// Figure 9.15 shows a FLUSH from P_2 to P_3, whose requests are not concurrent;
// by steps (5a) and (5b), which are followed here, it is a REPLY.
//
// [AsPublished] is the literal text, kept as a negative control.
//
// # Guarantees
//
// No two processes are in their critical sections together, every request is
// served, and entries are in the order of the requests' timestamps, on reliable
// links that keep order. Nothing is done about processes that fail.
package lodhakshemkalyani
