package manifests_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// compose loads the Compose file as Compose does.
func compose(t *testing.T, file string) (*types.Project, error) {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{file}, cli.WithWorkingDirectory(testbed), cli.WithProfiles([]string{"*"}),
		cli.WithEnv([]string{"AGENTS=3"}))
	if err != nil {
		t.Fatal(err)
	}
	return o.LoadProject(t.Context())
}

func TestCompose(t *testing.T) {
	p, err := compose(t, filepath.Join(testbed, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	made := secrets(t, "nats")
	for name, secret := range p.Secrets {
		if _, err := os.Stat(filepath.Join(made, filepath.Base(secret.File))); err != nil {
			t.Errorf("secret %s: secrets.sh does not make it: %v", name, err)
		}
	}
	for name, config := range p.Configs {
		if _, err := os.Stat(config.File); err != nil {
			t.Errorf("config %s: %v", name, err)
		}
	}
	if got := len(p.Services); got != 3 {
		t.Errorf("%d services", got)
	}
	for name, s := range p.Services {
		if len(s.Environment) > 0 || len(s.EnvFiles) > 0 {
			t.Errorf("%s has an environment, where secrets do not belong: %v", name, s.Environment)
		}
		if len(s.Ports) > 0 {
			t.Errorf("%s opens ports of the host: %v", name, s.Ports)
		}
		if name == "nats" {
			continue
		}
		if why := refusal(t, s.Command); why != "" {
			t.Errorf("%s: the program refuses %q:\n%s", name, s.Command, why)
		}
		for _, path := range paths(s.Command) {
			if !slices.ContainsFunc(mounts(s), func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
				t.Errorf("%s: %s is mounted nowhere; there are %q", name, path, mounts(s))
			}
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.User == "" || strings.HasPrefix(s.User, "0") {
			t.Errorf("%s may do more than it needs to", name)
		}
		if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
			t.Error(err)
		}
	}
	if got := p.Services["coordinator"].Command; !slices.Contains(got, "--expect-agents=3") {
		t.Errorf("AGENTS=3, and %q", got)
	}
}

// paths are the files and folders that arguments name.
func paths(args []string) []string {
	var found []string
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(value, "/") {
			found = append(found, value)
		}
	}
	return found
}

// mounts are the files and folders that a service sees.
func mounts(s types.ServiceConfig) []string {
	var all []string
	for _, x := range s.Secrets {
		target := x.Target
		if !strings.HasPrefix(target, "/") {
			target = "/run/secrets/" + target
		}
		if x.Target == "" {
			target += x.Source
		}
		all = append(all, target)
	}
	for _, x := range s.Configs {
		all = append(all, x.Target)
	}
	for _, x := range s.Volumes {
		all = append(all, x.Target)
	}
	return all
}
