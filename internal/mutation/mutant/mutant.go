// Package mutant is what a program with planted faults asks whether one of them is
// active. Package mutation adds it to the programs that it rewrites; nothing else uses
// it.
//
// A rewritten program holds all its mutants, each under a number. At most one is
// active, the one whose number the environment gives, so that the processes which a
// test starts have the same one. With none active the program does what it did before.
package mutant

import (
	"os"
	"strconv"
	"sync"
)

// What the environment tells: the number of the active mutant, or the file to which a
// run without one writes the numbers of the mutants whose places it reaches.
const (
	Active  = "DMEBENCH_MUTANT"
	Reached = "DMEBENCH_MUTANTS_REACHED"
)

// recording stands for no mutant at all, and for writing down which are reached.
const recording = -1

var active = func() int {
	if os.Getenv(Reached) != "" {
		return recording
	}
	k, _ := strconv.Atoi(os.Getenv(Active))
	return k
}()

var reached struct {
	sync.Mutex
	known map[int]bool
	file  *os.File
}

// Is reports whether mutant k is active.
func Is(k int) bool {
	if active == recording {
		record(k)
	}
	return active == k
}

// record writes down, once, that the place of mutant k was reached. Processes append
// to the same file.
func record(k int) {
	reached.Lock()
	defer reached.Unlock()
	if reached.known[k] {
		return
	}
	if reached.file == nil {
		file, err := os.OpenFile(os.Getenv(Reached), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			panic(err)
		}
		reached.file, reached.known = file, make(map[int]bool)
	}
	reached.known[k] = true
	if _, err := reached.file.WriteString(strconv.Itoa(k) + "\n"); err != nil {
		panic(err)
	}
}

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type number interface {
	integer | ~float32 | ~float64
}

type ordered interface {
	number | ~string
}

// choose is the original of a value, or its mutant.
func choose[T any](k int, original, mutated T) T {
	if Is(k) {
		return mutated
	}
	return original
}

// Choose returns the original, or the other where mutant k is active.
func Choose[T any](k int, original, mutated T) T { return choose(k, original, mutated) }

// Less is a < b, or a <= b.
func Less[T ordered](k int, a, b T) bool { return a < b || Is(k) && a == b }

// LessEqual is a <= b, or a < b.
func LessEqual[T ordered](k int, a, b T) bool { return a < b || !Is(k) && a == b }

// Greater is a > b, or a >= b.
func Greater[T ordered](k int, a, b T) bool { return a > b || Is(k) && a == b }

// GreaterEqual is a >= b, or a > b.
func GreaterEqual[T ordered](k int, a, b T) bool { return a > b || !Is(k) && a == b }

// Add is a + b, or a - b.
func Add[T number](k int, a, b T) T {
	if Is(k) {
		return a - b
	}
	return a + b
}

// Subtract is a - b, or a + b.
func Subtract[T number](k int, a, b T) T {
	if Is(k) {
		return a + b
	}
	return a - b
}

// Multiply is a * b, or a / b.
func Multiply[T number](k int, a, b T) T {
	if Is(k) {
		return a / b
	}
	return a * b
}

// Divide is a / b, or a * b.
func Divide[T number](k int, a, b T) T {
	if Is(k) {
		return a * b
	}
	return a / b
}

// Remainder is a % b, or a * b.
func Remainder[T integer](k int, a, b T) T {
	if Is(k) {
		return a * b
	}
	return a % b
}

// And is a & b, or a | b.
func And[T integer](k int, a, b T) T {
	if Is(k) {
		return a | b
	}
	return a & b
}

// Or is a | b, or a & b.
func Or[T integer](k int, a, b T) T {
	if Is(k) {
		return a & b
	}
	return a | b
}

// Negative is -a, or a.
func Negative[T number](k int, a T) T { return choose(k, -a, a) }

// OneMore is a, or a + 1.
func OneMore[T number](k int, a T) T { return choose(k, a, a+1) }

// OneLess is a, or a - 1.
func OneLess[T number](k int, a T) T { return choose(k, a, a-1) }

// Tenfold is a, or 10 a.
func Tenfold[T number](k int, a T) T { return choose(k, a, 10*a) }

// Min is the smaller of a and b, or the larger.
func Min[T ordered](k int, a, b T) T { return choose(k, min(a, b), max(a, b)) }

// Max is the larger of a and b, or the smaller.
func Max[T ordered](k int, a, b T) T { return choose(k, max(a, b), min(a, b)) }

// Swap returns a and b, or b and a.
func Swap[T any](k int, a, b T) (T, T) {
	if Is(k) {
		return b, a
	}
	return a, b
}

// Zero is a, or the zero value of its type.
func Zero[T any](k int, a T) T {
	var zero T
	return choose(k, a, zero)
}
