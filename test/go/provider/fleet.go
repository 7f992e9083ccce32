package main

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/kcp-dev/logicalcluster/v3"
	"github.com/kcp-dev/multicluster-provider/apiexport"
	pathaware "github.com/kcp-dev/multicluster-provider/path-aware"
	mcpcache "github.com/kcp-dev/multicluster-provider/pkg/cache"
)

// fleet is the workspaces that have bound the export, as a provider of kcp's has them.
type fleet interface {
	multicluster.Provider
	multicluster.ProviderRunnable
	// Lister lists over all shards, from caches.
	Lister() mcpcache.Lister
}

func newFleet(config *rest.Config, slice string, scheme *runtime.Scheme, paths bool) (fleet, error) {
	options := apiexport.Options{Scheme: scheme}
	if paths {
		return pathaware.New(config, slice, options)
	}
	return apiexport.New(config, slice, options)
}

// witness tells which workspaces are engaged.
type witness struct{ out *output }

// Start is asked for of all that a manager has.
func (*witness) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Engage is called with a context that ends when the workspace is disengaged.
func (w *witness) Engage(ctx context.Context, name multicluster.ClusterName, _ cluster.Cluster) error {
	w.out.emit("engaged", fields{"cluster": string(name)})
	context.AfterFunc(ctx, func() { w.out.emit("disengaged", fields{"cluster": string(name)}) })
	return nil
}

// answer answers "sites" with those of all workspaces, as caches have them, and the path or name of a cluster with its own.
func answer(ctx context.Context, question string, all fleet, out *output) {
	list := &SiteList{}
	told := fields{"of": question}
	if err := ask(ctx, question, all, list); err != nil {
		told["error"] = err.Error()
	}
	names := []string{}
	for i := range list.Items {
		names = append(names, strings.Join([]string{logicalcluster.From(&list.Items[i]).String(), list.Items[i].Name}, "/"))
	}
	slices.Sort(names)
	told["sites"] = names
	out.emit("answer", told)
}

func ask(ctx context.Context, question string, all fleet, list client.ObjectList) error {
	if question == "sites" {
		return all.Lister().List(ctx, list)
	}
	workspace, err := all.Get(ctx, multicluster.ClusterName(question))
	if err != nil {
		return err
	}
	return workspace.GetClient().List(ctx, list)
}
