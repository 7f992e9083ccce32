package main

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

const (
	controller = "sites"
	finalizer  = "example.dev/pages"
)

// publisher keeps a page for each site, in its workspace.
type publisher struct {
	mgr mcmanager.Manager
	out *output
}

func (p *publisher) setUp() error {
	return mcbuilder.ControllerManagedBy(p.mgr).Named(controller).For(&Site{}).Owns(&corev1.ConfigMap{}).Complete(p)
}

// Reconcile does what a site in one of the workspaces lacks.
func (p *publisher) Reconcile(ctx context.Context, req mcreconcile.Request) (ctrl.Result, error) {
	workspace, err := p.mgr.GetCluster(ctx, req.ClusterName)
	if err != nil {
		return ctrl.Result{}, err
	}
	site := &Site{}
	if err := workspace.GetClient().Get(ctx, req.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	told := fields{"cluster": string(req.ClusterName), "site": site.Name}
	if site.DeletionTimestamp != nil {
		if err := takeDown(ctx, workspace, site); err != nil {
			return ctrl.Result{}, again(err)
		}
		p.out.emit("taken-down", told)
		return ctrl.Result{}, nil
	}
	changed, err := publish(ctx, workspace, site)
	if err != nil {
		return ctrl.Result{}, again(err)
	}
	if changed {
		workspace.GetEventRecorder(controller).
			Eventf(site, nil, corev1.EventTypeNormal, "Published", "Publish", "%q is published", site.Spec.Title)
	}
	told["title"] = site.Spec.Title
	p.out.emit("published", told)
	return ctrl.Result{}, nil
}

// publish writes the page, then says where it is.
func publish(ctx context.Context, workspace cluster.Cluster, site *Site) (bool, error) {
	c := workspace.GetClient()
	if before := site.deepCopy(); controllerutil.AddFinalizer(site, finalizer) {
		lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := c.Patch(ctx, site, lock); err != nil {
			return false, err
		}
	}
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: pageOf(site)}}
	done, err := controllerutil.CreateOrUpdate(ctx, c, page, func() error {
		want := map[string]string{"index.html": "<h1>" + site.Spec.Title + "</h1>"}
		if !maps.Equal(page.Data, want) {
			page.Data = want
		}
		return controllerutil.SetControllerReference(site, page, workspace.GetScheme())
	})
	if err != nil {
		return false, err
	}
	moved := site.Status.Page != page.Name
	site.Status.Page = page.Name
	ready := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Published", ObservedGeneration: site.Generation,
	}
	if meta.SetStatusCondition(&site.Status.Conditions, ready) || moved {
		if err := c.Status().Update(ctx, site); err != nil {
			return false, err
		}
	}
	return done != controllerutil.OperationResultNone, nil
}

// takeDown deletes the page, then lets the site go.
func takeDown(ctx context.Context, workspace cluster.Cluster, site *Site) error {
	c := workspace.GetClient()
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: pageOf(site)}}
	if err := c.Delete(ctx, page); client.IgnoreNotFound(err) != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(site, finalizer) {
		return nil
	}
	return c.Update(ctx, site)
}

func pageOf(site *Site) string { return site.Name + "-page" }

// again leaves out what comes of a cache that is behind, and of a workspace that goes: what is next brings the site here again.
func again(err error) error {
	behind := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
	if behind || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}
