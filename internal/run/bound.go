package run

import (
	"fmt"
	"strings"
	"time"

	"dmebench/workload"
)

// boundOption is the option by which a user vouches for a bound on the delay of
// messages, to an algorithm that needs one.
const boundOption = "bound"

// vouchedBound returns the bound that was set, if one was: not a word such as
// auto, which leaves it to the network.
func (j *Job) vouchedBound() (bound time.Duration, vouched bool) {
	if !j.Needs.BoundedDelay {
		return 0, false
	}
	bound, err := time.ParseDuration(j.Options[boundOption])
	return bound, err == nil
}

// networkBound returns the bound on delays that a node is told where nobody
// vouches for one: in a simulation 2T, and what its links add at most; 0 over a
// real network, where none is known.
func (j *Job) networkBound() time.Duration {
	if j.Network.Real() {
		return 0
	}
	links := j.Links()
	more, bounded := links.Longest()
	if !bounded {
		more = 0
	}
	return 2*simulatedT(j.NetOptions) + more
}

// lacks names what the algorithm needs and the network does not give. Over a
// real network the user's word on delays is taken; in a simulation they are
// known, and it is compared with them.
func (j *Job) lacks() []string {
	g := j.Guarantees()
	if bound, vouched := j.vouchedBound(); vouched {
		if j.Network.Real() {
			g.BoundedDelay = true
		} else {
			longest, exists := longestSimulated(j.NetOptions)
			g.BoundedDelay = exists && bound >= longest
		}
	}
	return g.Lacks(j.Needs)
}

// mismatch says that the links do not do, and what would.
func (j *Job) mismatch() error {
	advice := "choose another transport or option"
	bound, vouched := j.vouchedBound()
	longest, exists := time.Duration(0), false
	if !j.Network.Real() {
		longest, exists = longestSimulated(j.NetOptions)
	}
	switch {
	case !j.Needs.BoundedDelay:
	case j.Network.Real() && !vouched:
		if _, has := j.Options[boundOption]; has {
			advice = "vouch for one with --set " + boundOption + "=DURATION, the longest time that a message can take"
		}
	case vouched && exists && bound < longest:
		advice = fmt.Sprintf("a message takes up to %v there, more than %s=%v", longest, boundOption, bound)
	}
	why := fmt.Errorf("%s needs %s, which %s does not have",
		j.Algorithm.Name, strings.Join(j.Missing, " and "), j.Network.Describe(j.NetOptions))
	return &CannotRun{Why: why, advice: advice + ", or see it fail with --allow-mismatch"}
}

// checkPatience refuses a bound so long that a node that waits for an answer
// would be taken for one that waits for ever, and delays by which a run would seem to
// stand still; a simulation has the patience for any.
func (j *Job) checkPatience() error {
	bound, vouched := j.vouchedBound()
	if bound > workload.MaxDuration {
		return fmt.Errorf("%s=%v: want at most %v", boundOption, bound, workload.MaxDuration)
	}
	limit, links := j.Spec.StallAfter.Std(), j.Links()
	longest, bounded := links.Longest()
	if !bounded {
		longest = links.Typical(0)
	}
	if j.Network.Real() && longest > 0 && longest >= limit {
		return fmt.Errorf("%s: a message may take %v, and nothing moves meanwhile; after %v that is taken for a stall; "+
			"let --stall-after be more than %v, or shorten the delay", j.Network.Describe(j.NetOptions), longest, limit, longest)
	}
	if vouched && bound >= limit/2 {
		return fmt.Errorf("%s=%v: a message and its answer may take twice as long, and nothing moves meanwhile; "+
			"after %v that is taken for a stall; let --stall-after be more than %v", boundOption, bound, limit, 2*bound)
	}
	return nil
}
