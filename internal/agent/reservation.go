package agent

import "time"

// reservation keeps an agent, after a run, for the coordinator that had it: nobody
// else comes between the runs of a sweep. The coordinator gives it up when it ends.
type reservation struct {
	holder string
	lease  string // the one before, by which the coordinator gives it up
	until  time.Time
}

// reserveFor is how long a coordinator has for what it does between two runs.
const reserveFor = LeaseTime

// reservedFor returns for whom the agent is reserved; "" for nobody. It is called with
// the agent's lock held.
func (a *agent) reservedFor() string {
	if time.Now().Before(a.reserved.until) {
		return a.reserved.holder
	}
	return ""
}

// giveUp ends a reservation, where it is of that lease.
func (a *agent) giveUp(lease string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if lease == "" || a.reserved.lease != lease {
		return false
	}
	a.reserved = reservation{}
	if a.lease == nil && !a.ending {
		a.serveTasks(a.cores) // no run follows for which it would rest
	}
	return true
}

// hadTaken notes the last lease of an agent, so that Close gives up what is reserved.
func (f *Fleet) hadTaken(instance, lease string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reserved[instance] = lease
}
