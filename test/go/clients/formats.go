package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// exchanged keeps the last media types of requests and responses.
type exchanged struct {
	lock           sync.Mutex
	sent, received string
}

func (m *exchanged) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(req)
		if err == nil {
			m.lock.Lock()
			defer m.lock.Unlock()
			m.sent, m.received = req.Header.Get("Content-Type"), res.Header.Get("Content-Type")
		}
		return res, err
	})
}

func (m *exchanged) add(f fields) fields {
	m.lock.Lock()
	defer m.lock.Unlock()
	f["sent"], f["received"] = m.sent, m.received
	return f
}

// runFormats writes, reads and watches tasks without types, in the formats that -accept and the feature gates choose.
func runFormats(ctx context.Context, s *session) error {
	seen := &exchanged{}
	config := dynamic.ConfigFor(s.config)
	config.Wrap(seen.wrap)
	if s.accept != "" {
		config.AcceptContentTypes = s.accept
	}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return err
	}
	tasks := dynamic.New(client).Resource(taskResource).Namespace("default")
	list, err := tasks.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	watcher, err := tasks.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	s.emit("watching", seen.add(fields{}))
	told := func(object *unstructured.Unstructured, err error) (fields, error) {
		if err != nil {
			return seen.add(fields{}), err
		}
		return seen.add(shown(object)), nil
	}
	made := applied("formats", "héllo ☃")
	unstructured.SetNestedField(made.Object, int64(9007199254740993), "spec", "count")
	err = s.steps(ctx, []step{
		{"create", func(ctx context.Context) (fields, error) {
			return told(tasks.Create(ctx, made, metav1.CreateOptions{}))
		}},
		{"create again", func(ctx context.Context) (fields, error) {
			return told(tasks.Create(ctx, made, metav1.CreateOptions{}))
		}},
		{"get", func(ctx context.Context) (fields, error) {
			return told(tasks.Get(ctx, "formats", metav1.GetOptions{}))
		}},
		{"list", func(ctx context.Context) (fields, error) {
			list, err := tasks.List(ctx, metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 {
				return nil, err
			}
			return told(&list.Items[0], nil)
		}},
		{"update", func(ctx context.Context) (fields, error) {
			object, err := tasks.Get(ctx, "formats", metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			unstructured.SetNestedField(object.Object, "updated", "spec", "title")
			return told(tasks.Update(ctx, object, metav1.UpdateOptions{}))
		}},
		{"merge patch", func(ctx context.Context) (fields, error) {
			body, _ := json.Marshal(map[string]any{"spec": map[string]any{"title": "merged"}})
			return told(tasks.Patch(ctx, "formats", types.MergePatchType, body, metav1.PatchOptions{}))
		}},
		{"apply", func(ctx context.Context) (fields, error) {
			options := metav1.ApplyOptions{FieldManager: "formats", Force: true}
			return told(tasks.Apply(ctx, "formats", applied("formats", "applied"), options))
		}},
		{"get missing", func(ctx context.Context) (fields, error) {
			return told(tasks.Get(ctx, "missing", metav1.GetOptions{}))
		}},
		{"delete", func(ctx context.Context) (fields, error) {
			return seen.add(fields{}), tasks.Delete(ctx, "formats", metav1.DeleteOptions{})
		}},
	})
	if err != nil {
		return err
	}
	for event := range watcher.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			s.emit("changed", fields{"type": string(event.Type)})
			return nil
		}
		f := shown(object)
		f["type"] = string(event.Type)
		s.emit("changed", f)
		if event.Type == watch.Deleted {
			return nil
		}
	}
	return nil
}

func shown(object *unstructured.Unstructured) fields {
	title, _, _ := unstructured.NestedString(object.Object, "spec", "title")
	count, _, _ := unstructured.NestedInt64(object.Object, "spec", "count")
	return fields{"title": title, "exact": count == 9007199254740993, "managed": len(object.GetManagedFields())}
}
