package manifests_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// decode reads manifests into the types of Kubernetes; a field that they do not have
// is an error.
func decode(manifests []byte) ([]runtime.Object, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, batch.AddToScheme, core.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var all []runtime.Object
	for r := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(manifests))); ; {
		document := make([]byte, 1<<20)
		n, err := r.Read(document)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(document[:n], nil, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
}

// kustomize renders a copy of the testbed in which the secrets and the experiment are,
// as `kubectl apply -k` does.
func kustomize(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "secrets"), os.DirFS(secrets(t, "nats"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "kubernetes"), os.DirFS(filepath.Join(testbed, "kubernetes"))); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{
		"kustomization.yaml": filepath.Join(testbed, "kustomization.yaml"),
		"nats.conf":          filepath.Join(testbed, "nats.conf"),
		"experiment.yaml":    filepath.Join(repository, "experiments", "quickstart.yaml"),
	} {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// workloads are the templates of pods among objects, by the kind and name of what
// makes the pods.
func workloads(objects []runtime.Object) map[string]core.PodTemplateSpec {
	all := map[string]core.PodTemplateSpec{}
	for _, o := range objects {
		switch o := o.(type) {
		case *apps.StatefulSet:
			all["StatefulSet "+o.Name] = o.Spec.Template
		case *batch.Job:
			all["Job "+o.Name] = o.Spec.Template
		case *core.Pod:
			all["Pod "+o.Name] = core.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}
		}
	}
	return all
}

func TestKubernetes(t *testing.T) {
	objects, err := decode(kustomize(t))
	if err != nil {
		t.Fatal(err)
	}
	pod, err := os.ReadFile(filepath.Join(testbed, "kubernetes", "results.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := decode(pod)
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, more...)

	files := map[string][]string{} // what a volume's source holds
	replicas := int32(0)
	for _, o := range objects {
		switch o := o.(type) {
		case *core.ConfigMap:
			for key := range o.Data {
				files["configmap "+o.Name] = append(files["configmap "+o.Name], key)
			}
		case *core.Secret:
			for key := range o.Data {
				files["secret "+o.Name] = append(files["secret "+o.Name], key)
			}
		case *core.PersistentVolumeClaim:
			files["claim "+o.Name] = []string{""}
		case *apps.StatefulSet:
			if !labels.SelectorFromSet(o.Spec.Selector.MatchLabels).Matches(labels.Set(o.Spec.Template.Labels)) {
				t.Errorf("StatefulSet %s does not select its own pods", o.Name)
			}
			if o.Name == "agent" {
				replicas = *o.Spec.Replicas
			}
		}
	}
	templates := workloads(objects)
	if len(templates) != 4 {
		t.Errorf("%d workloads", len(templates))
	}
	for name, template := range templates {
		checkPod(t, name, template.Spec, files)
	}
	for _, o := range objects {
		if s, ok := o.(*core.Service); ok {
			selects := labels.SelectorFromSet(s.Spec.Selector)
			found := slices.ContainsFunc(slices.Collect(maps.Values(templates)), func(p core.PodTemplateSpec) bool {
				return selects.Matches(labels.Set(p.Labels))
			})
			if !found {
				t.Errorf("Service %s selects no pods", s.Name)
			}
		}
	}
	coordinator := templates["Job coordinator"].Spec.Containers[0].Args
	if expected := fmt.Sprintf("--expect-agents=%d", replicas); !slices.Contains(coordinator, expected) {
		t.Errorf("there are %d agents, and the coordinator is told %q", replicas, coordinator)
	}
}

// checkPod checks what a pod runs, and that what it is told to read is there.
func checkPod(t *testing.T, name string, pod core.PodSpec, files map[string][]string) {
	t.Helper()
	if pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot {
		t.Errorf("%s runs as root", name)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Errorf("%s can ask the cluster for things", name)
	}
	volumes := map[string][]string{}
	for _, v := range pod.Volumes {
		held, ok := held(v, files)
		if !ok {
			t.Errorf("%s: nothing makes what volume %s is made of", name, v.Name)
		}
		volumes[v.Name] = held
	}
	for _, c := range pod.Containers {
		if len(c.Env) > 0 || len(c.EnvFrom) > 0 {
			t.Errorf("%s has an environment, where secrets do not belong", name)
		}
		s := c.SecurityContext
		if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil ||
			*s.AllowPrivilegeEscalation || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s may do more than it needs to", name)
		}
		there := []string{}
		for _, m := range c.VolumeMounts {
			held, ok := volumes[m.Name]
			if !ok {
				t.Errorf("%s mounts %s, which is no volume", name, m.Name)
			}
			for _, file := range held {
				there = append(there, strings.TrimSuffix(m.MountPath+"/"+file, "/"))
			}
		}
		for _, path := range paths(c.Args) {
			if !slices.Contains(there, path) {
				t.Errorf("%s: there is no %s; there are %q", name, path, there)
			}
		}
		if !strings.HasPrefix(c.Image, "dmebench:") {
			continue
		}
		if why := refusal(t, c.Args); why != "" {
			t.Errorf("%s: the program refuses %q:\n%s", name, c.Args, why)
		}
	}
}

// held is what a volume holds, "" for a folder that can be written to.
func held(v core.Volume, files map[string][]string) ([]string, bool) {
	var keys []string
	switch {
	case v.Secret != nil:
		keys = []string{"secret " + v.Secret.SecretName}
	case v.ConfigMap != nil:
		keys = []string{"configmap " + v.ConfigMap.Name}
	case v.PersistentVolumeClaim != nil:
		keys = []string{"claim " + v.PersistentVolumeClaim.ClaimName}
	case v.EmptyDir != nil:
		return []string{""}, true
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				keys = append(keys, "secret "+s.Secret.Name)
			}
			if s.ConfigMap != nil {
				keys = append(keys, "configmap "+s.ConfigMap.Name)
			}
		}
	}
	var all []string
	for _, key := range keys {
		if files[key] == nil {
			return nil, false
		}
		all = append(all, files[key]...)
	}
	return all, len(keys) > 0
}
