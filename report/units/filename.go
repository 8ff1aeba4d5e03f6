package units

import (
	"strconv"
	"strings"
)

// longest is how many bytes of a text a file's name takes.
const longest = 120

// Slug keeps of s what every file system and every URL can hold.
func Slug(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "µ", "u")
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.')
	})
	s = strings.Join(words, "-")
	return strings.Trim(s[:min(len(s), longest)], "-.")
}

// Names are names of files that are taken.
type Names map[string]bool

// Take returns the slug of s, with a number where that is taken, and takes it.
func (n Names) Take(s string) string {
	name := Slug(s)
	for i := 2; n[name]; i++ {
		name = Slug(s) + "-" + strconv.Itoa(i)
	}
	n[name] = true
	return name
}
