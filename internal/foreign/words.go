package foreign

import (
	"errors"
	"strings"
)

// Split divides a command into words as a shell does: at spaces, but for those
// between quotes or after a backslash. Nothing is expanded. There is at least one
// word.
func Split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside := false // a word, which may be empty between quotes
	var quote rune  // the one that is open
	escaped := false
	for _, r := range command {
		switch {
		case r == 0:
			return nil, errors.New("holds a zero byte")
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case quote == '\'' && r != quote:
			word.WriteRune(r)
		case r == '\\':
			escaped, inside = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case escaped:
		return nil, errors.New("nothing follows the last backslash")
	}
	if inside {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no program")
	}
	return words, nil
}
