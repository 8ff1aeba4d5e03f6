package agent

import (
	"context"
	"errors"
	"fmt"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/internal/host"
	"dmebench/internal/noderun"
	"dmebench/result"
)

// Read asks the agent, in one question.
func (h *Remote) Read(ctx context.Context, readings []host.Reading) error {
	x, err := h.call(ctx, request{Op: opRead})
	if err != nil {
		return err
	}
	if err := decodeReadings(readings, h.part.Local, x.Readings); err != nil {
		return fmt.Errorf("host %s: %w", h.Name(), err)
	}
	return nil
}

// Counts asks the agent, some nodes at a time.
func (h *Remote) Counts(ctx context.Context, counts []noderun.Counts) error {
	return h.pieces(ctx, request{Op: opCounts}, func(x *answer) error {
		for _, c := range x.Counts {
			if c.Node < 1 || int(c.Node) > len(counts) {
				return fmt.Errorf("host %s: there is no node %d", h.Name(), c.Node)
			}
			counts[c.Node-1] = c.Counts
		}
		return nil
	})
}

// pieces asks for one piece after the other.
func (h *Remote) pieces(ctx context.Context, q request, take func(*answer) error) error {
	for {
		x, err := h.call(ctx, q)
		if err != nil {
			return err
		}
		if err := take(&x); err != nil || x.Next == 0 {
			return err
		}
		if x.Next <= q.From {
			return fmt.Errorf("host %s: '%s' does not come to an end", h.Name(), q.Op)
		}
		q.From = x.Next
	}
}

// Waits asks the agent.
func (h *Remote) Waits(ctx context.Context) (noderun.WaitCounts, error) {
	x, err := h.call(ctx, request{Op: opWaits})
	if err == nil && x.Waits == nil {
		err = h.nothing(opWaits)
	}
	if err != nil {
		return noderun.WaitCounts{}, err
	}
	return *x.Waits, nil
}

// Witness asks the agent.
func (h *Remote) Witness(ctx context.Context) (host.Witness, error) {
	x, err := h.call(ctx, request{Op: opWitness})
	if err == nil && x.Witness == nil {
		err = h.nothing(opWitness)
	}
	if err != nil {
		return host.Witness{}, err
	}
	return *x.Witness, nil
}

// Hold asks the agent.
func (h *Remote) Hold(ctx context.Context, order uint64) error {
	_, err := h.call(ctx, request{Op: opHold, Order: order})
	return err
}

// Held asks the agent.
func (h *Remote) Held(ctx context.Context) (dme.NodeID, error) {
	x, err := h.call(ctx, request{Op: opHeld})
	return x.Node, err
}

// Bury asks the agent.
func (h *Remote) Bury(ctx context.Context, id dme.NodeID) (host.Remains, error) {
	x, err := h.call(ctx, request{Op: opBury, Node: id})
	if err == nil && x.Remains == nil {
		err = h.nothing(opBury)
	}
	if err != nil {
		return host.Remains{}, err
	}
	return *x.Remains, nil
}

// LastEntered asks the agent.
func (h *Remote) LastEntered(ctx context.Context, id dme.NodeID) (int64, error) {
	x, err := h.call(ctx, request{Op: opEntered, Node: id})
	return x.At, err
}

// Log asks the agent, some records at a time.
func (h *Remote) Log(ctx context.Context, id dme.NodeID) (all []entrylog.Entry, err error) {
	err = h.pieces(ctx, request{Op: opLog, Node: id}, func(x *answer) (err error) {
		all, err = entrylog.Decode(all, x.Entries)
		return err
	})
	return all, err
}

// Report asks the agent.
func (h *Remote) Report(ctx context.Context) (result.Host, error) {
	x, err := h.call(ctx, request{Op: opReport})
	if err == nil && x.Host == nil {
		err = h.nothing(opReport)
	}
	if err != nil {
		return result.Host{}, err
	}
	return *x.Host, nil
}

// nothing is the error of an answer in which the main thing is missing.
func (h *Remote) nothing(what op) error {
	return errors.New("host " + h.Name() + ": the answer to '" + string(what) + "' is empty")
}
