//go:build js && wasm

// Command wasm is the playground's model for a page: it sets the functions dmebench, which takes a
// request and perhaps a function for progress, and returns an answer, both in JSON (see
// [playground.Session.Call]), and dmebenchCollect, which collects garbage; then it calls dmebenchReady.
package main

import (
	"runtime"
	"syscall/js"

	"dmebench/algorithms"
	"dmebench/internal/playground"
)

func main() {
	found, err := playground.NewCatalog(algorithms.All(), algorithms.Scenarios)
	if err != nil {
		panic(err) // of what is embedded
	}
	session := playground.Session{Catalog: found}
	js.Global().Set("dmebench", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var progress func(uint64)
		if len(args) > 1 {
			progress = func(done uint64) { args[1].Invoke(float64(done)) }
		}
		return string(session.Call([]byte(args[0].String()), progress))
	}))
	js.Global().Set("dmebenchCollect", js.FuncOf(func(js.Value, []js.Value) any { runtime.GC(); return nil }))
	js.Global().Call("dmebenchReady")
	select {}
}
