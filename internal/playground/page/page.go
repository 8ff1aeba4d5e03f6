// Package page makes the one file that is the playground: the page, and in it the
// model as WebAssembly, compressed. The WebAssembly is compiled when the page is made,
// from the same sources as this program; a released program carries it.
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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed *.html *.js style.css lessons.txt
var assets embed.FS

// Compiled is what 'go generate' of a release puts here: the model and its sources.
// In a checkout there is only a note of that.
//
//go:embed compiled
var compiled embed.FS

// scripts are concatenated in this order.
var scripts = []string{"engine.js", "play.js", "diagram.js", "picture.js", "panels.js", "story.js", "main.js"}

// model is the package that is compiled to WebAssembly.
const model = "dmebench/internal/playground/wasm"

// Parts are what a page is made of beside its own files.
type Parts struct {
	Wasm    []byte // gzip
	Sources []byte // of the handlers, JSON, gzip
	Runtime []byte // of Go, JavaScript
}

// Render makes the page. Opened is the text of a scenario with which it begins; "" for
// the first lesson.
func Render(parts Parts, opened string) ([]byte, error) {
	lessons, err := json.Marshal(string(read("lessons.txt")))
	if err != nil {
		return nil, err
	}
	var begin []byte
	if opened != "" {
		if begin, err = json.Marshal(opened); err != nil {
			return nil, err
		}
	}
	return render("page.html", scripts, map[string]string{
		"Lessons": string(lessons), "Opened": string(begin),
		"Wasm": base64.StdEncoding.EncodeToString(parts.Wasm), "Source": base64.StdEncoding.EncodeToString(parts.Sources),
		"Runtime": string(parts.Runtime),
	})
}

// RenderRecording makes a page of a recorded run, in the form in which 'run --trace' writes
// it.
func RenderRecording(recording []byte) ([]byte, error) {
	return render("recorded.html", []string{"diagram.js", "panels.js", "recorded.js"}, map[string]string{
		"Recording": base64.StdEncoding.EncodeToString(pack(recording)),
	})
}

func render(name string, scripts []string, values map[string]string) ([]byte, error) {
	t, err := template.New(name).Parse(string(read(name)))
	if err != nil {
		return nil, err
	}
	var script strings.Builder
	for _, name := range scripts {
		script.Write(read(name))
	}
	values["Style"], values["Scripts"] = string(read("style.css")), script.String()
	var out bytes.Buffer
	err = t.Execute(&out, values)
	return out.Bytes(), err
}

func read(name string) []byte {
	b, err := assets.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}

// ErrNoSource is the error if the model can neither be found nor compiled.
var ErrNoSource = errors.New("the playground's WebAssembly is compiled from the program's sources: run this in a clone of dmebench, " +
	"or in a module that requires it, with the go command on the PATH; or take a released program, which carries it")

// Load returns what a page is made of: what the program carries, or else what the go
// command makes of the sources.
func Load(ctx context.Context) (Parts, error) {
	var p Parts
	var err error
	for name, to := range map[string]*[]byte{"model.wasm.gz": &p.Wasm, "sources.json.gz": &p.Sources, "runtime.js": &p.Runtime} {
		if *to, err = compiled.ReadFile("compiled/" + name); err != nil {
			return Compile(ctx)
		}
	}
	return p, nil
}

// Compile compiles the model.
func Compile(ctx context.Context) (p Parts, err error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return p, ErrNoSource
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
	folder, err := run("list", "-f", "{{.Dir}}", model)
	if err != nil {
		return p, ErrNoSource
	}
	dir, err := os.MkdirTemp("", "dmebench-playground-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "model.wasm")
	if _, err := run("build", "-trimpath", "-ldflags=-s -w", "-o", file, model); err != nil {
		return p, fmt.Errorf("playground: cannot compile the model: %w", err)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	root, err := run("env", "GOROOT")
	if err != nil {
		return p, err
	}
	if p.Runtime, err = os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js")); err != nil {
		return p, fmt.Errorf("playground: this installation of Go lacks a file for WebAssembly: %w", err)
	}
	sources, err := handlers(os.DirFS(filepath.Join(folder, "..", "..", "..", "algorithms")))
	if err != nil {
		return p, err
	}
	text, err := json.Marshal(sources)
	if err != nil {
		return p, err
	}
	p.Wasm, p.Sources = pack(wasm), pack(text)
	return p, nil
}

func pack(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	w.Write(b) // to memory: it does not fail
	w.Close()
	return out.Bytes()
}

// Write puts what has been compiled where the next build of the program finds it, as a
// release does.
func (p Parts) Write(dir string) error {
	for name, b := range map[string][]byte{"model.wasm.gz": p.Wasm, "sources.json.gz": p.Sources, "runtime.js": p.Runtime} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
