// Package every has a place for every kind of fault, and what is hard to rewrite.
package every

import (
	"math"
	"time"
)

type pair struct {
	left, right int
	rest        []string
}

const step, share = 2, 0.25

var total = step * 3 // of the package

func conditions(a, b int, c, d bool) (n int) {
	if a < b && (c || !d) || a == b+1 {
		n++
	}
	for i := range b {
		if i >= a {
			break
		} else if i <= -a || i > 7 {
			continue
		}
		n += step
		n -= i % 5
	}
	for n < a*b && n != 0 {
		n |= 1 << 3 & n
		n = n*2 + int(math.Floor(share*float64(n)))
	}
	return max(n, min(a, b))
}

func choices(n int, done chan<- int) (name string, err error) {
	switch {
	case n == 0:
		name = "none"
	case n > 3, n < -3:
		name = "many"
		fallthrough
	default:
		name += "!"
	}
	switch n {
	case 1, step:
		return "few", nil
	}
	select {
	case done <- n:
		n--
	default:
	}
	defer close(done)
	go subtract(n, total)
	return name, err
}

func subtract(a, b int) int { return a - b/2 | b&3 }

func swapped(a, b pair) pair {
	return pair{left: subtract(a.left, b.right), right: b.left, rest: append(a.rest, b.rest...)}
}

func sum[T int | float64](all [4]T) (sum T) {
	for _, x := range all {
		sum += x
	}
	if len(all) == 0 {
		panic("none" + time.Duration(step+1).String())
	}
	return -sum
}

func wait(d time.Duration, even func() bool) bool {
	return d > 3*time.Second && even()
}
