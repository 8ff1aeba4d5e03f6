package plots

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"dmebench/internal/platform"
)

// dotsPerInch of the PNG: sharp on a dense display and in print at 12 cm.
const dotsPerInch = 192

// Format is a kind of file, by its suffix.
type Format string

// The formats. An SVG is one svg element, without ids and without a reference to
// anything outside, so that it can also stand in a page.
const (
	SVG Format = "svg"
	PNG Format = "png"
	PDF Format = "pdf"
)

// Formats lists them all.
func Formats() []Format { return []Format{SVG, PNG, PDF} }

// Render draws the figure in each of the formats, as large as a screen wants it.
func (f Figure) Render(formats ...Format) (map[Format][]byte, error) {
	return f.RenderAs(Size{}, formats...)
}

// RenderAs draws the figure in each of the formats at a size: that of an SVG and a
// PDF is the physical one, and a PNG has 192 dots per inch of it.
func (f Figure) RenderAs(size Size, formats ...Format) (map[Format][]byte, error) {
	if err := size.Check(); err != nil {
		return nil, fmt.Errorf("plots: %s: %w", f.Name, err)
	}
	d := f.lay(size)
	drawn := make(map[Format][]byte)
	for _, format := range formats {
		draw, ok := map[Format]func() ([]byte, error){SVG: d.svg, PNG: d.png, PDF: d.pdf}[format]
		if !ok {
			return nil, fmt.Errorf("plots: %s: no format %q; there are %v", f.Name, format, Formats())
		}
		b, err := draw()
		if err != nil {
			return nil, fmt.Errorf("plots: %s as %s: %w", f.Name, format, err)
		}
		drawn[format] = b
	}
	return drawn, nil
}

func (d drawing) png() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(d.width*d.scale, d.height*d.scale), vgimg.UseDPI(dotsPerInch))
	canvas.Scale(d.scale.Points(), d.scale.Points())
	d.draw(canvas)
	return written(vgimg.PngCanvas{Canvas: canvas})
}

func (d drawing) pdf() ([]byte, error) {
	canvas := vgpdf.New(d.width*d.scale, d.height*d.scale)
	canvas.Scale(d.scale.Points(), d.scale.Points())
	d.draw(outlined{canvas})
	b, err := written(canvas)
	if err != nil {
		return nil, err
	}
	// The time of writing, in a place of fixed width: without it the same
	// results give the same bytes.
	stamp := regexp.MustCompile(`\(D:\d{14}\)`)
	return stamp.ReplaceAll(b, []byte("(D:20000101000000)")), nil
}

func (d drawing) svg() ([]byte, error) {
	canvas := vgsvg.NewWith(vgsvg.UseWH(d.width, d.height), vgsvg.EmbedFonts(false))
	d.draw(canvas)
	b, err := written(canvas)
	if err != nil {
		return nil, err
	}
	text := string(b)
	_, content, ok := strings.Cut(text[max(0, strings.Index(text, "<svg")):], ">")
	if !ok {
		return nil, fmt.Errorf("no svg element in %d bytes", len(b))
	}
	content = strings.TrimSuffix(strings.TrimSpace(content), "</svg>")
	content = strings.NewReplacer(
		"font-family:Liberation Sans;", "",
		"font-variant:normal;", "", "font-variant:none;", "", "font-weight:normal;", "", "font-style:normal;", "",
	).Replace(content)

	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.5gpt" height="%.5gpt" viewBox="0 0 %.5g %.5g" `+
		`font-family="'Liberation Sans',Arimo,Arial,Helvetica,sans-serif" role="img" aria-label="%s">`,
		(d.width * d.scale).Points(), (d.height * d.scale).Points(), d.width.Points(), d.height.Points(),
		html.EscapeString(printable(d.figure.Title+": "+d.figure.Subtitle)))
	out.WriteString(path().ReplaceAllStringFunc(content, func(p string) string { return long().ReplaceAllStringFunc(p, tenths) }))
	out.WriteString("</svg>\n")
	return []byte(out.String()), nil
}

// path is an outline, whose numbers are most of a file.
var path = platform.Pattern(` d="[^"]*"`)

// long is a number of more decimals than any printer shows: 0.1 pt is 35 µm.
var long = platform.Pattern(`\d+\.\d{2,}`)

// tenths writes a number of points with one decimal.
func tenths(number string) string {
	x, _ := strconv.ParseFloat(number, 64) // only digits and a point: always a number
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

func written(c vg.CanvasWriterTo) ([]byte, error) {
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}
