package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/testbed/agent"
	"dmebench/internal/testbed/doctor"
	"dmebench/transport/nats"
)

// awaited is for how long agents are waited for that should be there.
const awaited = 30 * time.Second

const (
	fewestQuestions = 5 // of which a median says something
	mostQuestions   = 100
)

// doctorOfAgents examines the hosts of agents, and this one, which leads their runs.
func (p *program) doctorOfAgents(c *cli.Context, need doctor.Need) error {
	if flags := given(c, "listen"); len(flags) > 0 {
		return usage("doctor: --listen is for this host; agents listen at the address that they were started with (agent --address)")
	}
	if n := c.Int("questions"); n < fewestQuestions || n > mostQuestions {
		return usage("--questions %d: want %d to %d", n, fewestQuestions, mostQuestions)
	}
	if n := c.Int("expect-agents"); c.IsSet("expect-agents") && n < 1 {
		return usage("--expect-agents %d: there must be at least 1", n)
	}
	b, err := brokerAt(c, "agents")
	if err != nil {
		return err
	}
	if err := agent.CheckBroker(*b); err != nil {
		return failWith(Usage, err)
	}
	fleet, err := agent.Connect(c.Context, *b)
	if errors.Is(err, nats.ErrBroker) {
		err = failWith(Unavailable, err)
	}
	if err != nil {
		return err
	}
	defer fleet.Close()
	agents, err := fleet.Muster(c.Context, c.Int("expect-agents"), awaited)
	if err != nil {
		return unavailable(c.Context, err)
	}
	here := doctor.Host{Name: "this host"}
	var wait sync.WaitGroup
	wait.Go(func() {
		here = p.examineHere(c.Context, doctor.Options{Listen: "127.0.0.1:0", Several: true, Results: c.String("out")})
		here.Coordinator = true
	})
	hosts, paths, took, err := fleet.Examine(c.Context, agents, need, c.Int("questions"))
	wait.Wait()
	if err != nil {
		return unavailable(c.Context, err)
	}
	if f := missing(agents, c.Int("expect-agents"), b); f != nil {
		here.Findings = append(here.Findings, *f)
	}
	return p.showReport(c, doctor.NewReport(append([]doctor.Host{here}, hosts...), paths, took))
}

func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failWith(Unavailable, err)
}

// missing says that fewer agents are there than should be; nil where enough are.
func missing(agents []agent.Info, expected int, b *nats.Broker) *doctor.Finding {
	if len(agents) >= max(expected, 1) {
		return nil
	}
	var names []string
	for _, i := range agents {
		names = append(names, i.Name)
	}
	found := fmt.Sprintf("no agent is at %s", b.Name())
	if len(names) > 0 {
		found = fmt.Sprintf("%d of %d agents are at %s: %s", len(names), expected, b.Name(), strings.Join(names, ", "))
	}
	return &doctor.Finding{
		Check: "agents", Level: doctor.Problem, Found: found,
		Do: "start one on each host of the testbed: dmebench agent --nats-url URL, with the URL of that server",
	}
}
