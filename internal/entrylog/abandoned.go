package entrylog

import "dmebench/dme"

// Abandoned is a request that led to no [Entry]: it ended with its node, or was
// pending when the run ended. Times are as in an entry.
type Abandoned struct {
	Node      dme.NodeID
	Made      bool  // the node was asked; else it waited in line behind another request
	Requested int64 // when the node was asked, or the request came to wait in line
	Entered   int64 // when its critical section began; 0 where it never did
	Ended     int64 // when its node went; 0 where it was pending to the end
}
