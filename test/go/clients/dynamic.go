package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/retry"
)

// runDynamic writes with the dynamic client of client-go, as tools without types do.
func runDynamic(ctx context.Context, s *session) error {
	seen := &warnings{}
	config := rest.CopyConfig(s.config)
	config.WarningHandler = seen
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	tasks := client.Resource(taskResource).Namespace("default")
	patch := func(kind types.PatchType, body any) func(context.Context) (fields, error) {
		return func(ctx context.Context) (fields, error) {
			bytes, err := json.Marshal(body)
			if err != nil {
				return nil, err
			}
			return told(tasks.Patch(ctx, "dynamic", kind, bytes, metav1.PatchOptions{}))
		}
	}
	create := func(validation string) func(context.Context) (fields, error) {
		return func(ctx context.Context) (fields, error) {
			object := applied("validated-"+validation, "validated")
			object.SetName("")
			object.SetGenerateName("validated-")
			unstructured.SetNestedField(object.Object, true, "spec", "mistyped")
			f, err := told(tasks.Create(ctx, object, metav1.CreateOptions{FieldValidation: validation}))
			if f == nil {
				f = fields{}
			}
			f["warnings"] = seen.take()
			return f, err
		}
	}
	return s.steps(ctx, []step{
		{"create", func(ctx context.Context) (fields, error) {
			return told(tasks.Create(ctx, applied("dynamic", "made"), metav1.CreateOptions{}))
		}},
		{"update", func(ctx context.Context) (fields, error) {
			object, err := tasks.Get(ctx, "dynamic", metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			unstructured.SetNestedField(object.Object, "updated", "spec", "title")
			return told(tasks.Update(ctx, object, metav1.UpdateOptions{}))
		}},
		{"merge patch", patch(types.MergePatchType, map[string]any{"spec": map[string]any{"title": "merged"}})},
		{"JSON patch", patch(types.JSONPatchType, []any{map[string]any{"op": "replace", "path": "/spec/title", "value": "patched"}})},
		{"invalid", patch(types.MergePatchType, map[string]any{"spec": map[string]any{"title": 5}})},
		{"apply", func(ctx context.Context) (fields, error) {
			options := metav1.ApplyOptions{FieldManager: "dynamic", Force: true}
			return told(tasks.Apply(ctx, "dynamic", applied("dynamic", "applied"), options))
		}},
		{"apply status", func(ctx context.Context) (fields, error) {
			object := applied("dynamic", "")
			object.Object["status"] = map[string]any{"phase": "Done"}
			delete(object.Object, "spec")
			return told(tasks.ApplyStatus(ctx, "dynamic", object, metav1.ApplyOptions{FieldManager: "reporter"}))
		}},
		{"warned", create("Warn")},
		{"strict", create("Strict")},
		{"ignored", create("Ignore")},
		{"delete", func(ctx context.Context) (fields, error) {
			return nil, tasks.Delete(ctx, "dynamic", metav1.DeleteOptions{})
		}},
		{"delete again", func(ctx context.Context) (fields, error) {
			return nil, tasks.Delete(ctx, "dynamic", metav1.DeleteOptions{})
		}},
		{"deletecollection", func(ctx context.Context) (fields, error) {
			if err := tasks.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
				return nil, err
			}
			list, err := tasks.List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			return fields{"left": len(list.Items)}, nil
		}},
	})
}

func told(object *unstructured.Unstructured, err error) (fields, error) {
	if err != nil {
		return nil, err
	}
	title, _, _ := unstructured.NestedString(object.Object, "spec", "title")
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return fields{"title": title, "phase": phase, "generation": object.GetGeneration()}, nil
}

const writers, increments = 8, 25

// runIncrement has several writers count on one object, each of them retrying its conflicts.
func runIncrement(ctx context.Context, s *session) error {
	config := rest.CopyConfig(s.config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	tasks := client.Resource(taskResource).Namespace("default")
	if _, err := tasks.Create(ctx, applied("count", "counted"), metav1.CreateOptions{}); err != nil {
		return err
	}
	increment := func() error {
		object, err := tasks.Get(ctx, "count", metav1.GetOptions{})
		if err != nil {
			return err
		}
		count, _, _ := unstructured.NestedInt64(object.Object, "spec", "count")
		unstructured.SetNestedField(object.Object, count+1, "spec", "count")
		_, err = tasks.Update(ctx, object, metav1.UpdateOptions{})
		return err
	}
	patience := retry.DefaultBackoff
	patience.Steps = 1_000
	patience.Factor = 1
	failures := make(chan error, writers)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range increments {
				if err := retry.RetryOnConflict(patience, increment); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return fmt.Errorf("a writer gave up: %w", err)
	}
	object, err := tasks.Get(ctx, "count", metav1.GetOptions{})
	if err != nil {
		return err
	}
	count, _, _ := unstructured.NestedInt64(object.Object, "spec", "count")
	s.emit("counted", fields{"count": count, "generation": object.GetGeneration(), "expected": writers * increments})
	return nil
}

// runScale scales with the client that horizontal autoscalers and kubectl scale use.
func runScale(ctx context.Context, s *session) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	tasks := client.Resource(taskResource).Namespace("default")
	object := applied("scaled", "scaled")
	unstructured.SetNestedField(object.Object, int64(1), "spec", "steps")
	if _, err := tasks.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	found, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(found)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	scaler, err := scale.NewForConfig(s.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(found))
	if err != nil {
		return err
	}
	scales := scaler.Scales("default")
	group := taskResource.GroupResource()
	return s.steps(ctx, []step{
		{"get", func(ctx context.Context) (fields, error) {
			scale, err := scales.Get(ctx, group, "scaled", metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return fields{"replicas": scale.Spec.Replicas}, nil
		}},
		{"update", func(ctx context.Context) (fields, error) {
			scale, err := scales.Get(ctx, group, "scaled", metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			scale.Spec.Replicas = 5
			scale, err = scales.Update(ctx, group, scale, metav1.UpdateOptions{})
			if err != nil {
				return nil, err
			}
			return fields{"replicas": scale.Spec.Replicas}, nil
		}},
		{"patch", func(ctx context.Context) (fields, error) {
			body := []byte(`{"spec":{"replicas":7}}`)
			scale, err := scales.Patch(ctx, taskResource, "scaled", types.MergePatchType, body, metav1.PatchOptions{})
			if err != nil {
				return nil, err
			}
			return fields{"replicas": scale.Spec.Replicas}, nil
		}},
		{"the object", func(ctx context.Context) (fields, error) {
			object, err := tasks.Get(ctx, "scaled", metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			steps, _, _ := unstructured.NestedInt64(object.Object, "spec", "steps")
			return fields{"steps": steps}, nil
		}},
	})
}
