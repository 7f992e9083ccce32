package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// runWatch watches from a version (that of a list, unless -from) with the watcher that resumes by itself.
func runWatch(ctx context.Context, s *session) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	resource := client.Resource(s.resource).Namespace(s.namespace)
	if s.from == "" {
		list, err := resource.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		s.from = list.GetResourceVersion()
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, s.from, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			s.narrow(&options)
			return resource.Watch(ctx, options)
		},
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	s.emit("watching", fields{"resourceVersion": s.from})
	for event := range watcher.ResultChan() {
		if event.Type == watch.Error {
			status := apierrors.FromObject(event.Object).(apierrors.APIStatus).Status()
			s.emit("ended", fields{"code": status.Code, "reason": status.Reason, "message": status.Message})
			continue
		}
		s.tell("watched", event.Object, fields{"type": event.Type})
	}
	return nil
}
