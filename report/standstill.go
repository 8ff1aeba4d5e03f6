package report

import (
	"html/template"
	"regexp"
	"strings"

	"dmebench/result"
)

// mostPictures is how many wait-for graphs a page shows: those of the first runs
// that stalled. The others say in words why they did.
const mostPictures = 12

// standstills draws the wait-for graphs of a page.
type standstills struct {
	draw  func(*result.Result) []byte // may be nil
	drawn int
}

// picture draws who waited for whom in a stalled run, "" where that is not known
// or there are enough pictures.
func (s *standstills) picture(r *result.Result) template.HTML {
	if s.draw == nil || s.drawn == mostPictures {
		return ""
	}
	svg := s.draw(r)
	if svg == nil {
		return ""
	}
	s.drawn++
	// Its text is escaped where it is drawn.
	return template.HTML(embedded(string(svg), "wait-"+string(rune('a'+s.drawn-1))))
}

var (
	styleSheet = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	rule       = regexp.MustCompile(`(?m)^([^{}\n]+?) *\{`)
	reference  = regexp.MustCompile(`(\bid="|url\(#)`)
)

// embedded makes a drawing part of a page: its rules hold within itself alone,
// and its names are its own.
func embedded(svg, name string) string {
	svg = reference.ReplaceAllString(svg, "${1}"+name+"-")
	svg = styleSheet.ReplaceAllStringFunc(svg, func(s string) string {
		return "<style>" + rule.ReplaceAllString(styleSheet.FindStringSubmatch(s)[1], "."+name+" $1 {") + "</style>"
	})
	return strings.Replace(svg, "<svg ", `<svg class="`+name+`" `, 1)
}
