package commandline

import (
	_ "embed"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/suggest"
)

// The scripts know nothing of commands: they ask the program, with completeCommand.
var (
	//go:embed completion/dmebench.bash
	bashScript string
	//go:embed completion/dmebench.zsh
	zshScript string
	//go:embed completion/dmebench.fish
	fishScript string
)

func (p *program) completionCommand() *cli.Command {
	script := func(name, text, install string) *cli.Command {
		return &cli.Command{
			Name: name, Usage: "for " + name + ": " + install,
			Action: func(*cli.Context) error {
				_, err := io.WriteString(p.stdout, text)
				return err
			},
		}
	}
	shells := []*cli.Command{
		script("bash", bashScript, "source <(dmebench completion bash), in ~/.bashrc"),
		script("zsh", zshScript, "source <(dmebench completion zsh), in ~/.zshrc after compinit"),
		script("fish", fishScript, "dmebench completion fish | source, in ~/.config/fish/config.fish"),
	}
	return &cli.Command{
		Name:        "completion",
		Usage:       "a script that lets a shell complete commands, flags and their values",
		Description: "Completes also algorithms, networks, workloads, and options of what has been chosen: --set quorum=…",
		Subcommands: shells,
		Action: func(*cli.Context) error {
			var names []string
			for _, s := range shells {
				names = append(names, s.Name)
			}
			return usage("completion: for which shell? %s", suggest.All(names))
		},
	}
}

// isCompletion reports whether a shell asks how a command line may go on.
func isCompletion(words []string) bool {
	return len(words) > 0 && strings.EqualFold(words[0], completeCommand)
}
