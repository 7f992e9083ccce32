package main

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// siteShards are the URLs that the endpoint slice lists, and what is at each.
type siteShards struct {
	controller *siteController
	lock       sync.Mutex
	running    map[string]*siteShard
}

type siteShard struct {
	sites, pages cache.Store
	stop         context.CancelFunc
}

// changed is a store of the slice: it starts what is to be followed, and stops what is not listed any more.
func (s *siteShards) changed(ctx context.Context) cache.Store {
	store := cache.NewStore(clusterKey)
	return &toldStore{Store: store, tell: func(any) {
		s.lock.Lock()
		defer s.lock.Unlock()
		listed := map[string]bool{}
		for _, object := range store.List() {
			endpoints, _, _ := unstructured.NestedSlice(object.(*unstructured.Unstructured).Object, "status", "endpoints")
			for _, endpoint := range endpoints {
				url, _, _ := unstructured.NestedString(endpoint.(map[string]any), "url")
				listed[url] = true
			}
		}
		for url, shard := range s.running {
			if !listed[url] {
				shard.stop()
				delete(s.running, url)
				s.controller.emit("left", fields{"url": url})
			}
		}
		for url := range listed {
			if s.running[url] == nil {
				s.running[url] = s.start(ctx, url)
				s.controller.emit("joined", fields{"url": url})
			}
		}
	}}
}

func (s *siteShards) start(ctx context.Context, url string) *siteShard {
	ctx, stop := context.WithCancel(ctx)
	client, err := s.controller.client(url, "*")
	if err != nil {
		panic(err) // a URL that was published
	}
	enqueue := func(object any) {
		found := object.(*unstructured.Unstructured)
		s.controller.queue.Add(siteKey{url, clusterOf(found), found.GetNamespace(), found.GetName()})
	}
	shard := &siteShard{
		sites: &toldStore{Store: cache.NewStore(clusterKey), tell: enqueue},
		pages: &toldStore{Store: cache.NewStore(clusterKey), tell: enqueue},
		stop:  stop,
	}
	go follow(ctx, client.Resource(siteResource), metav1.ListOptions{}, shard.sites)
	go follow(ctx, client.Resource(pageResource), metav1.ListOptions{LabelSelector: pageOf}, shard.pages)
	return shard
}

// find gives a site, and the page that it has.
func (s *siteShards) find(key siteKey) (site, page *unstructured.Unstructured) {
	s.lock.Lock()
	shard := s.running[key.url]
	s.lock.Unlock()
	if shard == nil {
		return nil, nil
	}
	id := key.cluster + "|" + key.namespace + "/" + key.name
	if found, exists, _ := shard.sites.GetByKey(id); exists {
		site = found.(*unstructured.Unstructured)
	}
	if found, exists, _ := shard.pages.GetByKey(id); exists {
		page = found.(*unstructured.Unstructured)
	}
	return site, page
}

// follow keeps a store in step. It is no informer, which takes objects of one name for one, wherever they are.
func follow(ctx context.Context, resource dynamic.ResourceInterface, selected metav1.ListOptions, store cache.Store) {
	narrowed := func(options metav1.ListOptions) metav1.ListOptions {
		options.FieldSelector, options.LabelSelector = selected.FieldSelector, selected.LabelSelector
		return options
	}
	source := listing{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, narrowed(options))
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return resource.Watch(ctx, narrowed(options))
		},
	}}
	cache.NewReflectorWithOptions(source, &unstructured.Unstructured{}, store, cache.ReflectorOptions{}).RunWithContext(ctx)
}

// listing asks for lists. What a reflector streams in place of a list it collects by namespace and name, and would lose all but
// one of what has one name in several workspaces.
type listing struct{ *cache.ListWatch }

func (listing) IsWatchListSemanticsUnSupported() bool { return true }

// toldStore is a store that tells of each object that was changed.
type toldStore struct {
	cache.Store
	tell func(object any)
}

func (t *toldStore) Add(object any) error    { return t.after(t.Store.Add(object), object) }
func (t *toldStore) Update(object any) error { return t.after(t.Store.Update(object), object) }
func (t *toldStore) Delete(object any) error { return t.after(t.Store.Delete(object), object) }

func (t *toldStore) Replace(objects []any, version string) error {
	all := append(t.Store.List(), objects...)
	return t.after(t.Store.Replace(objects, version), all...)
}

func (t *toldStore) after(err error, objects ...any) error {
	for _, object := range objects {
		t.tell(object)
	}
	return err
}

func clusterOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()["kcp.io/cluster"]
}

func clusterKey(object any) (string, error) {
	found := object.(*unstructured.Unstructured)
	return clusterOf(found) + "|" + found.GetNamespace() + "/" + found.GetName(), nil
}
