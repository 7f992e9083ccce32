package main

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// runWorkspace uses a workspace as programs do that know nothing of workspaces: typed clients as they come, which send
// protobuf, in two namespaces, and a leader election.
func runWorkspace(ctx context.Context, s *session) error {
	types := &mediaTypes{seen: map[string]int{}}
	s.config.Wrap(func(next http.RoundTripper) http.RoundTripper { types.next = next; return types })
	c, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return err
	}
	err = s.steps(ctx, []step{
		{"namespace", func(ctx context.Context) (fields, error) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
			made, err := c.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
			return fields{"phase": made.Status.Phase}, err
		}},
		{"default", func(ctx context.Context) (fields, error) { return configMaps(ctx, c, "default") }},
		{"other", func(ctx context.Context) (fields, error) { return configMaps(ctx, c, "other") }},
		{"all namespaces", func(ctx context.Context) (fields, error) {
			list, err := c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{LabelSelector: "made=here"})
			if err != nil {
				return nil, err
			}
			names := []string{}
			for _, one := range list.Items {
				names = append(names, one.Namespace+"/"+one.Name)
			}
			return fields{"names": names}, nil
		}},
		{"missing namespace", func(ctx context.Context) (fields, error) { return configMaps(ctx, c, "missing") }},
		{"leader election", func(ctx context.Context) (fields, error) { return nil, lead(ctx, c) }},
	})
	types.lock.Lock()
	defer types.lock.Unlock()
	s.emit("sent", fields{"types": types.seen})
	return err
}

// configMaps makes and changes an object, and tells what lists and a watch from before say of it.
func configMaps(ctx context.Context, c kubernetes.Interface, namespace string) (fields, error) {
	client := c.CoreV1().ConfigMaps(namespace)
	before, err := client.List(ctx, metav1.ListOptions{LabelSelector: "made=here"})
	if err != nil {
		return nil, err
	}
	watching, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: "made=here", ResourceVersion: before.ResourceVersion})
	if err != nil {
		return nil, err
	}
	defer watching.Stop()
	wanted := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings", Labels: map[string]string{"made": "here"}},
		Data:       map[string]string{"where": namespace},
		BinaryData: map[string][]byte{"bytes": {0, 255}},
	}
	made, err := client.Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	made.Data["changed"] = "yes"
	changed, err := client.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	after, err := client.List(ctx, metav1.ListOptions{LabelSelector: "made=here"})
	if err != nil {
		return nil, err
	}
	seen := []string{}
	for len(seen) < 2 {
		event, open := <-watching.ResultChan()
		if !open || event.Type == watch.Error {
			return nil, fmt.Errorf("the watch ended after %v: %v", seen, event.Object)
		}
		seen = append(seen, fmt.Sprintf("%s %v", event.Type, event.Object.(*corev1.ConfigMap).Data))
	}
	return fields{
		"before": len(before.Items), "after": len(after.Items), "seen": seen,
		"data": changed.Data, "bytes": changed.BinaryData["bytes"],
	}, nil
}
