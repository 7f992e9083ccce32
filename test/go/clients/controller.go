package main

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// runController is a manager with one reconciler, as an operator has it: it reads from the cache and tells what it finds.
func runController(ctx context.Context, s *session) error {
	mgr, err := ctrl.NewManager(s.config, ctrl.Options{
		Scheme:  newScheme(),
		Metrics: server.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("quotes").For(s.newObject()).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			found := s.newObject()
			err := mgr.GetClient().Get(ctx, req.NamespacedName, found)
			if err != nil && !errors.IsNotFound(err) {
				return reconcile.Result{}, err
			}
			s.emit("reconcile", fields{"key": strings.TrimPrefix(req.String(), "/"), "found": err == nil, "resourceVersion": found.GetResourceVersion()})
			return reconcile.Result{}, nil
		}))
	if err != nil {
		return err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if mgr.GetCache().WaitForCacheSync(ctx) {
			s.emit("synced", nil)
		}
		return nil
	}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// newObject is an empty quote in the form in which the cache keeps quotes.
func (s *session) newObject() client.Object {
	var object client.Object
	switch s.as {
	case "unstructured":
		object = &unstructured.Unstructured{}
	case "metadata":
		object = &metav1.PartialObjectMetadata{}
	default:
		return &Quote{}
	}
	object.GetObjectKind().SetGroupVersionKind(quoteVersion.WithKind("Quote"))
	return object
}
