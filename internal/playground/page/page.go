// Package page makes the one file that is the playground: the page, and in it the
// model as WebAssembly, compressed. The WebAssembly is compiled when the page is made,
// from the same sources as this program; a released program carries the page.
package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed *.html *.js style.css lessons.txt
var assets embed.FS

// Compiled is where a release puts the page, as 'dmebench playground' writes it. In a checkout
// there is only a note of that.
//
//go:embed compiled
var compiled embed.FS

// model is the package that is compiled to WebAssembly.
const model = "dmebench/internal/playground/wasm"

// ErrNoSource is the error if the model can neither be found nor compiled.
var ErrNoSource = errors.New("the playground's WebAssembly is compiled from the program's sources: run this in a clone of dmebench, " +
	"or in a module that requires it, with the go command on the PATH; or take a released program, which carries it")

// Playground returns the page that the program carries, or else what the go command makes of the
// sources. Opened is the text of a scenario with which it begins; "" for the first lesson.
func Playground(ctx context.Context, opened string) ([]byte, error) {
	html, err := compiled.ReadFile("compiled/page.html")
	if err != nil {
		html, err = compile(ctx)
	}
	return open(html, opened), err
}

// open puts a scenario into a page that has none.
func open(html []byte, scenario string) []byte {
	if scenario == "" {
		return html
	}
	text, _ := json.Marshal(scenario) // every string has a form
	place := []byte(`id="opened">`)
	return bytes.Replace(html, place, append(place, text...), 1)
}

// RenderRecording makes a page of a recorded run, in the form in which 'run --trace' writes it.
func RenderRecording(recording []byte) ([]byte, error) {
	return render("recorded.html", "elements.js diagram.js panels.js recorded.js", map[string]string{"Recording": pack(recording)})
}

// render fills in a page; the scripts are concatenated in their order.
func render(name, scripts string, values map[string]string) ([]byte, error) {
	for key, files := range map[string]string{"Style": "style.css", "Lessons": "lessons.txt", "Scripts": scripts} {
		for _, file := range strings.Fields(files) {
			text, err := assets.ReadFile(file)
			if err != nil {
				return nil, err
			}
			values[key] += string(text)
		}
	}
	t, err := template.ParseFS(assets, name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, values)
	return out.Bytes(), err
}

// compile compiles the model, and renders the page.
func compile(ctx context.Context) ([]byte, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, ErrNoSource
	}
	run := func(args ...string) (string, error) {
		command := exec.CommandContext(ctx, tool, args...)
		command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		var complaint bytes.Buffer
		command.Stderr = &complaint
		out, err := command.Output()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, complaint.Bytes())
		}
		return strings.TrimSpace(string(out)), err
	}
	folders, err := run("list", "-f", "{{.Module.Dir}}\n{{context.GOROOT}}", model)
	if err != nil {
		return nil, ErrNoSource
	}
	root, goroot, _ := strings.Cut(folders, "\n")
	dir, err := os.MkdirTemp("", "dmebench-playground-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "model.wasm")
	if _, err := run("build", "-trimpath", "-ldflags=-s -w", "-o", file, model); err != nil {
		return nil, fmt.Errorf("playground: cannot compile the model: %w", err)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	runtime, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, fmt.Errorf("playground: this installation of Go lacks a file for WebAssembly: %w", err)
	}
	sources, err := sources(os.DirFS(filepath.Join(root, "algorithms")))
	if err != nil {
		return nil, err
	}
	return render("page.html", "elements.js engine.js play.js diagram.js picture.js panels.js story.js main.js", map[string]string{
		"Wasm": pack(wasm), "Source": pack(sources), "Runtime": string(runtime),
	})
}

// pack compresses bytes and writes them as a page can hold them.
func pack(b []byte) string {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	w.Write(b) // to memory: it does not fail
	w.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// method is one of a node, as the page shows it.
type method struct {
	Doc  string `json:"doc,omitempty"` // its first sentence, which says the paper's step
	Code string `json:"code"`
}

// sources returns the methods of the algorithms' nodes, with those of what is embedded, in JSON: by
// the nodes' types, as "maekawa.node", and by their names.
func sources(algorithms fs.FS) ([]byte, error) {
	names, err := fs.Glob(algorithms, "*/*.go")
	if err != nil {
		return nil, err
	}
	fset, texts, packages := token.NewFileSet(), make(map[string][]byte), make(map[string][]*ast.File)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(algorithms, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		texts[name], packages[path.Dir(name)] = text, append(packages[path.Dir(name)], file)
	}
	all := make(map[string]map[string]method)
	for name, files := range packages {
		p, err := doc.NewFromFiles(fset, files, name, doc.AllDecls|doc.AllMethods|doc.PreserveAST)
		if err != nil {
			return nil, err
		}
		for _, t := range p.Types {
			of := make(map[string]method)
			for _, m := range t.Methods {
				begin := m.Decl.Pos()
				if m.Decl.Doc != nil {
					begin = m.Decl.Doc.Pos()
				}
				from, to := fset.Position(begin), fset.Position(m.Decl.End())
				of[m.Name] = method{p.Synopsis(m.Doc), string(texts[from.Filename][from.Offset:to.Offset])}
			}
			if _, node := of["Receive"]; node {
				all[name+"."+t.Name] = of
			}
		}
	}
	return json.Marshal(all)
}
