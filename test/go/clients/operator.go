package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// runOperator is a small operator: it holds each task by a finalizer, does one step at a time, says so in the status, and
// lets go of what is deleted once it has cleaned up.
func runOperator(ctx context.Context, s *session) error {
	mgr, err := ctrl.NewManager(s.config, ctrl.Options{Scheme: newScheme(), Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	o := &operator{Client: mgr.GetClient(), session: s}
	err = ctrl.NewControllerManagedBy(mgr).Named("tasks").For(&Task{}).Complete(o)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

type operator struct {
	client.Client
	*session
}

// Reconcile does what is next for a task.
func (o *operator) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	task := &Task{}
	if err := o.Get(ctx, req.NamespacedName, task); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	before := task.deepCopy()
	switch {
	case task.DeletionTimestamp != nil:
		if !controllerutil.RemoveFinalizer(task, finalizer) {
			return reconcile.Result{}, nil
		}
		o.emit("cleaned", fields{"key": req.Name})
		return reconcile.Result{}, client.IgnoreNotFound(o.Update(ctx, task))
	case controllerutil.AddFinalizer(task, finalizer):
		return reconcile.Result{}, o.Patch(ctx, task, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	case task.Status.Done < task.Spec.Steps:
		task.Status.Done++
		task.Status.Phase = "Started"
		return reconcile.Result{}, o.Status().Update(ctx, task)
	}
	task.Status.Phase = "Done"
	changed := meta.SetStatusCondition(&task.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Finished", ObservedGeneration: task.Generation,
	})
	if !changed && before.Status.Phase == task.Status.Phase {
		o.emit("settled", fields{"key": req.Name, "done": task.Status.Done, "generation": task.Generation})
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, o.Status().Patch(ctx, task, client.MergeFrom(before))
}
