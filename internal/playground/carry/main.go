// Command carry compiles the playground's model into the folder from which the next build
// of the program embeds it: scripts/release.sh calls it, so that a released program needs
// neither sources nor the go command to write the page.
package main

import (
	"context"
	"fmt"
	"os"

	"dmebench/internal/playground/page"
)

func main() {
	parts, err := page.Compile(context.Background())
	if err == nil {
		err = parts.Write("internal/playground/page/compiled")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "carry:", err)
		os.Exit(1)
	}
}
