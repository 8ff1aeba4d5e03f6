package doctor

import (
	"context"
	"sync"

	"dmebench/internal/environment"
)

// readings is what was read of a host. Of what could not be read, the zero value
// stays, and judges say that it is not known.
type readings struct {
	program    environment.Program
	clock      clockReading
	source     sourceReading
	processors processorReading
	load       loadReading
	limits     environment.Limits
	ports      portReading
	network    networkReading
	results    resultsReading
}

// read reads everything. What has to be watched for a while is watched while the
// network is tried.
func read(ctx context.Context, o Options) *readings {
	r := new(readings)
	var wait sync.WaitGroup
	wait.Go(func() { r.network = readNetwork(ctx, o.Listen) })
	r.load, r.clock = watch(ctx, o.Watch)
	r.program, _ = environment.ThisProgram() // what is not known is told
	r.source = readSource()
	r.processors = readProcessors()
	r.limits = environment.HostLimits()
	r.ports = readPorts("/")
	if o.Results != "" {
		r.results = readResults(o.Results)
	}
	wait.Wait()
	return r
}

// judge says what the readings mean for the run that is meant.
func (r *readings) judge(o Options) []Finding {
	findings := []Finding{
		judgeProgram(r.program),
		r.clock.judge(o),
		r.clock.judgeRate(o),
		r.source.judge(),
		r.processors.judge(o.Need),
		r.processors.judgeFrequency(),
		r.load.judge(r.processors),
		r.load.judgeStolen(),
		judgeMemory(r.limits, r.load, o.Need),
		judgeThreads(r.limits, o.Need),
		judgeDescriptors(r.limits, o.Need),
		r.ports.judge(o.Need),
	}
	findings = append(findings, r.network.judge(o)...)
	if o.Results != "" {
		findings = append(findings, r.results.judge(o.Results))
	}
	return findings
}
