package faults

import "dmebench/report/survival"

// and returns what two answers come to: one no is a no.
func and(a, b survival.Answer) survival.Answer {
	switch {
	case a == survival.No || b == survival.No:
		return survival.No
	case a == survival.Unknown || b == survival.Unknown:
		return survival.Unknown
	}
	return survival.Yes
}

// decide returns what runs and a search say together, and by which evidence.
func decide(s *survival.Search, runs, search survival.Answer) (survival.Answer, survival.Evidence) {
	switch {
	case runs == survival.No:
		return survival.No, survival.ByRuns
	case search == survival.No:
		return survival.No, survival.BySearch
	case runs == survival.Unknown:
		return survival.Unknown, ""
	case search == survival.Yes && s.Complete:
		return survival.Yes, survival.ByStates
	case search == survival.Yes:
		return survival.Yes, survival.BySchedules
	}
	return survival.Yes, survival.ByRuns
}

// absence returns what a search says that has the fault at other moments too: what it did
// not find is not there, and what it found speaks of those other moments. nil: nothing.
func absence(s *survival.Search) *survival.Search {
	if s.Safe != survival.Yes {
		return nil
	}
	only := &survival.Search{
		Safe: survival.Yes, Live: survival.Unknown, Nodes: s.Nodes, States: s.States, Complete: s.Complete, Random: s.Random,
	}
	if s.Live == survival.Yes {
		only.Live = survival.Yes
	}
	return only
}
