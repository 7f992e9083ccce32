package main

import (
	"context"
	"net/http"
	"os/signal"
	"slices"
	"syscall"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

var (
	siteResource  = schema.GroupVersionResource{Group: "sites.example.dev", Version: "v1", Resource: "sites"}
	pageResource  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	sliceResource = schema.GroupVersionResource{Group: "apis.kcp.io", Version: "v1alpha1", Resource: "apiexportendpointslices"}
)

// pageOf marks what belongs to a site: the finalizer of the site, and a label of its page.
const pageOf = "sites.example.dev/page"

// siteKey is a site, and the published URL at which it is.
type siteKey struct{ url, cluster, namespace, name string }

// siteController is examples/controller.ts in Go: it reconciles the sites of all workspaces that have bound the export, at each
// URL that the endpoint slice lists.
type siteController struct {
	*session
	http   *http.Client
	queue  workqueue.TypedRateLimitingInterface[siteKey]
	shards *siteShards
}

func runSites(ctx context.Context, s *session) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	client, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return err
	}
	c := &siteController{
		session: s,
		http:    client,
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[siteKey]()),
	}
	c.shards = &siteShards{controller: c, running: map[string]*siteShard{}}
	provider, err := c.client(s.config.Host, "")
	if err != nil {
		return err
	}
	go follow(ctx, provider.Resource(sliceResource), metav1.ListOptions{FieldSelector: "metadata.name=sites"}, c.shards.changed(ctx))
	workOff(ctx, c.queue, c.reconcile, func(key siteKey, err error) {
		c.emit("failed", fields{"key": key.name, "cluster": key.cluster, "message": err.Error()})
	})
	return nil
}

// client is one of a logical cluster below a URL, of what the URL itself leads to where none is named.
func (c *siteController) client(url, cluster string) (*dynamic.DynamicClient, error) {
	config := rest.CopyConfig(c.config)
	config.Host = url
	if cluster != "" {
		config.Host += "/clusters/" + cluster
	}
	return dynamic.NewForConfigAndClient(config, c.http)
}

// reconcile does what is to be done next; what that changes is a reason to be called again.
func (c *siteController) reconcile(ctx context.Context, key siteKey) error {
	site, page := c.shards.find(key)
	if site == nil {
		return nil
	}
	client, err := c.client(key.url, key.cluster)
	if err != nil {
		return err
	}
	sites, pages := client.Resource(siteResource).Namespace(key.namespace), client.Resource(pageResource).Namespace(key.namespace)
	finalizers := site.GetFinalizers()
	held := slices.Contains(finalizers, pageOf)
	title, _, _ := unstructured.NestedString(site.Object, "spec", "title")
	told, _, _ := unstructured.NestedString(site.Object, "status", "title")
	switch {
	case site.GetDeletionTimestamp() != nil && !held:
		return nil
	case site.GetDeletionTimestamp() != nil:
		selected := metav1.ListOptions{FieldSelector: "metadata.name=" + key.name, LabelSelector: pageOf}
		if err := pages.DeleteCollection(ctx, metav1.DeleteOptions{}, selected); err != nil {
			return err
		}
		others := slices.DeleteFunc(slices.Clone(finalizers), func(one string) bool { return one == pageOf })
		err := patch(ctx, sites, site, fields{"metadata": fields{"finalizers": others}})
		if errors.IsNotFound(err) {
			return nil
		}
		return err
	case !held:
		return patch(ctx, sites, site, fields{"metadata": fields{"finalizers": append(finalizers, pageOf)}})
	case titleOf(page) != title:
		_, err := pages.Apply(ctx, key.name, newPage(key, title), metav1.ApplyOptions{FieldManager: "virtual-workspaces", Force: true})
		return err
	case told != title:
		return patch(ctx, sites, site, fields{"status": fields{"phase": "Ready", "title": title}}, "status")
	}
	return nil
}

// patch changes an object as it was read: it is a conflict if somebody was faster.
func patch(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured, change fields, subresources ...string) error {
	metadata, _ := change["metadata"].(fields)
	if metadata == nil {
		metadata = fields{}
		change["metadata"] = metadata
	}
	metadata["resourceVersion"] = object.GetResourceVersion()
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, object.GetName(), types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return err
}

func newPage(key siteKey, title string) *unstructured.Unstructured {
	page := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"title": title}}}
	page.SetAPIVersion("v1")
	page.SetKind("ConfigMap")
	page.SetName(key.name)
	page.SetNamespace(key.namespace)
	page.SetLabels(map[string]string{pageOf: ""})
	return page
}

func titleOf(page *unstructured.Unstructured) string {
	if page == nil {
		return ""
	}
	title, _, _ := unstructured.NestedString(page.Object, "data", "title")
	return title
}
