package main

import (
	"context"
	"fmt"
	"net/http"
	"os/signal"
	"path"
	"slices"
	"sync"
	"syscall"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

var (
	typeResource      = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspacetypes"}
	clusterResource   = schema.GroupVersionResource{Group: "core.kcp.io", Version: "v1alpha1", Resource: "logicalclusters"}
	namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	mapResource       = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	bindingResource   = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

// teamLists are where a logical cluster says whom it waits for, by the type of the view.
var teamLists = map[string]string{"initializing": "initializers", "terminating": "terminators"}

// teamView is a published URL, and what its workspaces wait for.
type teamView struct{ url, phase string }

type teamKey struct {
	teamView
	cluster string
}

// teamController is examples/initializer.ts in Go: it sets workspaces of the type up, and keeps the handbooks of those that are
// deleted, at each URL that the type lists.
type teamController struct {
	*session
	http     *http.Client
	provider *dynamic.DynamicClient
	queue    workqueue.TypedRateLimitingInterface[teamKey]
	lock     sync.Mutex
	running  map[teamView]*teamShard
}

type teamShard struct {
	clusters cache.Store
	stop     context.CancelFunc
}

func runTeams(ctx context.Context, s *session) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	client, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return err
	}
	c := &teamController{
		session: s,
		http:    client,
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[teamKey]()),
		running: map[teamView]*teamShard{},
	}
	if c.provider, err = c.client(s.config.Host); err != nil {
		return err
	}
	types := cache.NewStore(clusterKey)
	told := &toldStore{Store: types, tell: func(any) { c.follow(ctx, types) }}
	go follow(ctx, c.provider.Resource(typeResource), metav1.ListOptions{FieldSelector: "metadata.name=team"}, told)
	failed := func(key teamKey, err error) {
		c.emit("failed", fields{"cluster": key.cluster, "phase": key.phase, "message": err.Error()})
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() { workOff(ctx, c.queue, c.reconcile, failed) })
	}
	workers.Wait()
	return nil
}

func (c *teamController) client(url string) (*dynamic.DynamicClient, error) {
	config := rest.CopyConfig(c.config)
	config.Host = url
	config.QPS = -1
	return dynamic.NewForConfigAndClient(config, c.http)
}

// follow starts what is listed and not followed yet, and stops what is not listed any more.
func (c *teamController) follow(ctx context.Context, types cache.Store) {
	c.lock.Lock()
	defer c.lock.Unlock()
	listed := map[teamView]bool{}
	for _, object := range types.List() {
		views, _, _ := unstructured.NestedSlice(object.(*unstructured.Unstructured).Object, "status", "virtualWorkspaces")
		for _, one := range views {
			url, _, _ := unstructured.NestedString(one.(map[string]any), "url")
			phase, _, _ := unstructured.NestedString(one.(map[string]any), "type")
			listed[teamView{url, phase}] = true
		}
	}
	for view, shard := range c.running {
		if !listed[view] {
			shard.stop()
			delete(c.running, view)
			c.emit("left", fields{"url": view.url})
		}
	}
	for view := range listed {
		if c.running[view] == nil {
			c.running[view] = c.start(ctx, view)
			c.emit("joined", fields{"url": view.url})
		}
	}
}

func (c *teamController) start(ctx context.Context, view teamView) *teamShard {
	ctx, stop := context.WithCancel(ctx)
	client, err := c.client(view.url + "/clusters/*")
	if err != nil {
		panic(err) // a URL that was published
	}
	shard := &teamShard{stop: stop, clusters: &toldStore{Store: cache.NewStore(clusterKey), tell: func(object any) {
		c.queue.Add(teamKey{view, clusterOf(object.(*unstructured.Unstructured))})
	}}}
	go follow(ctx, client.Resource(clusterResource), metav1.ListOptions{}, shard.clusters)
	return shard
}

// reconcile does the work in a workspace that waits, then takes the type off the list of whom it waits for.
func (c *teamController) reconcile(ctx context.Context, key teamKey) error {
	found := c.find(key)
	if found == nil {
		return nil
	}
	list, own := teamLists[key.phase], path.Base(key.url)
	waited, _, _ := unstructured.NestedStringSlice(found.Object, "status", list)
	if !slices.Contains(waited, own) {
		return nil
	}
	client, err := c.client(key.url + "/clusters/" + key.cluster)
	if err != nil {
		return err
	}
	if key.phase == "initializing" {
		err = setUp(ctx, client, found.GetAnnotations()["kcp.io/path"])
	} else {
		err = c.keep(ctx, client, key.cluster, found.GetAnnotations()["kcp.io/path"])
	}
	clusters := client.Resource(clusterResource)
	if err == nil {
		err = leaveList(ctx, clusters, list, own)
	}
	if err != nil && !isWaiting(ctx, clusters, list, own) {
		return nil
	}
	return err
}

// isWaiting is false where a replica was faster, which is no failure of ours. A workspace leaves the view a little later than the list.
func isWaiting(ctx context.Context, clusters dynamic.ResourceInterface, list, own string) bool {
	now, err := clusters.Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return !errors.IsNotFound(err)
	}
	waited, _, _ := unstructured.NestedStringSlice(now.Object, "status", list)
	return slices.Contains(waited, own)
}

// leaveList takes a name off a list that others leave as well. kcp looks at what is in the list before it looks at the version, so
// what is invalid may have been read too early.
func leaveList(ctx context.Context, clusters dynamic.ResourceInterface, list, own string) error {
	early := func(err error) bool { return errors.IsConflict(err) || errors.IsInvalid(err) }
	return retry.OnError(retry.DefaultBackoff, early, func() error {
		now, err := clusters.Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		waited, _, _ := unstructured.NestedStringSlice(now.Object, "status", list)
		others := slices.DeleteFunc(waited, func(one string) bool { return one == own })
		return patch(ctx, clusters, now, fields{"status": fields{list: others}}, "status")
	})
}

func (c *teamController) find(key teamKey) *unstructured.Unstructured {
	c.lock.Lock()
	shard := c.running[key.teamView]
	c.lock.Unlock()
	if shard == nil {
		return nil
	}
	if found, exists, _ := shard.clusters.GetByKey(key.cluster + "|/cluster"); exists {
		return found.(*unstructured.Unstructured)
	}
	return nil
}

func setUp(ctx context.Context, client dynamic.Interface, path string) error {
	group := map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}
	role := map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
	for _, one := range []struct {
		to     dynamic.ResourceInterface
		object *unstructured.Unstructured
	}{
		{client.Resource(namespaceResource), newObject("v1", "Namespace", "team", nil)},
		{client.Resource(mapResource).Namespace("team"), newObject("v1", "ConfigMap", "handbook", fields{"data": map[string]any{"workspace": path}})},
		{client.Resource(bindingResource).Namespace("team"), newObject("rbac.authorization.k8s.io/v1", "RoleBinding", "readers", fields{"roleRef": role, "subjects": []any{group}})},
	} {
		if err := apply(ctx, one.to, one.object, "virtual-workspaces"); err != nil {
			return fmt.Errorf("%s %s: %w", one.object.GetKind(), one.object.GetName(), err)
		}
	}
	return nil
}

// keep writes of a workspace that is deleted, into the workspace of the type, that it was there, and its handbook if it is still there.
func (c *teamController) keep(ctx context.Context, client dynamic.Interface, cluster, path string) error {
	kept := c.provider.Resource(mapResource).Namespace("default")
	record := func(data map[string]any) *unstructured.Unstructured {
		return newObject("v1", "ConfigMap", "team-"+cluster, fields{"data": data})
	}
	if err := apply(ctx, kept, record(map[string]any{"workspace": path}), "team"); err != nil {
		return err
	}
	book, err := client.Resource(mapResource).Namespace("team").Get(ctx, "handbook", metav1.GetOptions{})
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	data, _, _ := unstructured.NestedMap(book.Object, "data")
	return apply(ctx, kept, record(data), "handbook")
}

func newObject(apiVersion, kind, name string, content fields) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	for name, value := range content {
		object.Object[name] = value
	}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// apply owns fields by the names that examples/initializer.ts has.
func apply(ctx context.Context, to dynamic.ResourceInterface, object *unstructured.Unstructured, manager string) error {
	_, err := to.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}
