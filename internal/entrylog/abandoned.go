package entrylog

import (
	"math"

	"dmebench/dme"
)

// Never is the time of what did not happen.
const Never = math.MaxInt64

// Abandoned is a request that led to no [Entry]: it ended with its node, or was
// pending when the run ended. Times are as in an entry.
type Abandoned struct {
	Node      dme.NodeID
	Made      bool  // the node was asked; else it waited in line behind another request
	Requested int64 // when the node was asked, or the request came to wait in line
	Entered   int64 // when its critical section began; Never where it did not
	Ended     int64 // when its node went; Never where it was pending to the end
}
