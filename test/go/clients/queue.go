package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

// workOff does what is queued until the context is done. What fails is tried again, and told of unless somebody else was faster.
func workOff[K comparable](ctx context.Context, queue workqueue.TypedRateLimitingInterface[K], reconcile func(context.Context, K) error, failed func(K, error)) {
	context.AfterFunc(ctx, queue.ShutDown)
	for {
		key, end := queue.Get()
		if end {
			return
		}
		if err := reconcile(ctx, key); err == nil {
			queue.Forget(key)
		} else {
			if !errors.IsConflict(err) {
				failed(key, err)
			}
			queue.AddRateLimited(key)
		}
		queue.Done(key)
	}
}
