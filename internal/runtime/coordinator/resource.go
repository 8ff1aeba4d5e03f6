package coordinator

import (
	"context"
	"crypto/rand"

	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/resource"
	"dmebench/transport/nats"
)

// storeBytes bounds what the server of a run of its own keeps in memory for the
// shared resource.
const storeBytes = 16 << 20

// sharedResource is what critical sections share, in a run where they share something.
type sharedResource struct {
	bucket *resource.Bucket // nil where they do not
	broker *nats.Broker     // where it is; nil for the server of the control plane
}

// openResource makes the resource that the run asks for.
func (c *coordinator) openResource(ctx context.Context) (err error) {
	if c.job.Spec.Resource == "" {
		return nil
	}
	at := c.opt.Broker
	switch {
	case at != nil:
		c.shared.broker = at
	case c.broker != nil:
		if err := c.broker.EnableJetStream(storeBytes); err != nil {
			return err
		}
		fallthrough
	default:
		own := c.control()
		at = &own
	}
	c.shared.bucket, err = resource.Create(ctx, *at, rand.Text())
	return err
}

// connections is how many connections the workers make to the control plane's server.
func (c *coordinator) connections() int {
	if c.job.Spec.Resource != "" && c.opt.Broker == nil {
		return 2 * len(c.places)
	}
	return len(c.places)
}

// assignment says where workers find the resource.
func (r *sharedResource) assignment() *control.Resource {
	if r.bucket == nil {
		return nil
	}
	return &control.Resource{Bucket: r.bucket.Name(), Broker: r.broker}
}

// observe reads what has become of the resource of a run that is over.
func (r *sharedResource) observe(ctx context.Context, o *measure.Observation) error {
	if r.bucket == nil {
		return nil
	}
	s, err := r.bucket.State(ctx)
	if err != nil {
		return err
	}
	o.Resource = &measure.Resource{Kind: resource.NATS, Updates: s.Updates, Count: s.Count, Lost: s.Lost, First: s.First}
	return nil
}

// finish removes the resource of a run of which everything is known: nodes that are
// still inside have used it until now.
func (r *sharedResource) finish(ctx context.Context, o *measure.Observation) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if err := r.remove(ctx); err != nil {
		o.Warnings = append(o.Warnings, err.Error())
	}
}

// close removes the resource of a run that did not come to its end. Where the server
// does not answer, nobody is left to tell.
func (r *sharedResource) close() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	_ = r.remove(ctx)
}

func (r *sharedResource) remove(ctx context.Context) error {
	if r.bucket == nil {
		return nil
	}
	err := r.bucket.Remove(ctx)
	r.bucket = nil
	return err
}
