package measure

import (
	"math"
	"slices"

	"dmebench/report/stats"
)

// Parameters of MSER-5.
const (
	batchSize  = 5
	fewBatches = 12 // below which there is nothing to decide

	// unsettledAlpha is how rarely a settled series is said not to be by its ranks alone.
	unsettledAlpha = 0.01
)

// MSER5 returns how many of the first values belong to the initial transient:
// the truncation point that makes the marginal standard error of the mean of
// the rest smallest, over means of batches of five. A smaller cut wins a tie.
//
// It never cuts more than half. settled is false where the standard error is
// smallest in the second half and the batches before that point rank otherwise
// than those after it, which says that the series is too short to have settled.
// (A single outlier, such as a process that the scheduler kept waiting, moves the
// point too, but not the ranks.) The cut is then the best one in the first half.
// With fewer than 60 values it cuts nothing.
//
// K. P. White, An effective truncation heuristic for bias reduction in
// simulation output, Simulation 69 (1997); W. W. Franklin and K. P. White,
// Stationarity tests and MSER-5, Winter Simulation Conference 2008. A few
// batches at the end may agree by chance and so seem to be the best rest of
// all: K. Hoad, S. Robinson and R. Davies, Automating warm-up length
// estimation, Winter Simulation Conference 2008, leave out the last five; here
// a rest of less than a quarter is no candidate either.
func MSER5(values []int64) (cut int, settled bool) {
	m := len(values) / batchSize
	if m < fewBatches {
		return 0, true
	}
	means := make([]float64, m)
	for j, batch := range slices.Collect(slices.Chunk(values[:m*batchSize], batchSize)) {
		for _, v := range batch {
			means[j] += float64(v) / batchSize
		}
	}
	best, bestHalf := leastError(means)
	settled = best <= m/2 || stats.Compare(means[:best], means[best:], unsettledAlpha).P > unsettledAlpha
	return bestHalf * batchSize, settled
}

// leastError returns how many means to leave out so that the marginal standard
// error of the rest is smallest, and the best number up to half of them.
func leastError(means []float64) (best, bestHalf int) {
	// From the end on, so that mean and sum of squares of every rest come from
	// one pass (Welford); the statistic is their sum of squares over the
	// square of their number.
	m := len(means)
	leastRest := max(6, m/4)
	var mean, squares float64
	low, lowHalf := math.Inf(1), math.Inf(1)
	for d := m - 1; d >= 0; d-- {
		k := float64(m - d)
		delta := means[d] - mean
		mean += delta / k
		squares += delta * (means[d] - mean)
		statistic := squares / (k * k)
		if m-d >= leastRest && statistic <= low {
			best, low = d, statistic
		}
		if d <= m/2 && statistic <= lowHalf {
			bestHalf, lowHalf = d, statistic
		}
	}
	return best, bestHalf
}
