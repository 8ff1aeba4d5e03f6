package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
)

//go:embed page.html
var shell string

// Render writes the page as one HTML file.
func (d *Data) Render() ([]byte, error) {
	t, err := template.New("page").Parse(shell)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	data, err := json.Marshal(d) // escapes <, >, & and the line ends of scripts
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{"Data": d, "JSON": template.JS(data)})
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return out.Bytes(), nil
}
