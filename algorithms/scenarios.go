// Package algorithms holds the worked examples of the papers, which stand beside the
// algorithms' packages, and the files that they name.
package algorithms

import "embed"

// Scenarios are the worked examples, by their paths from this folder.
//
//go:embed */testdata/*.txt */testdata/*/*.txt
var Scenarios embed.FS
