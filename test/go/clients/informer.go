package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func runDynamicInformer(ctx context.Context, s *session) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, s.namespace, s.narrow)
	return s.follow(ctx, factory.ForResource(s.resource).Informer())
}

func runMetadataInformer(ctx context.Context, s *session) error {
	client, err := metadata.NewForConfig(s.config)
	if err != nil {
		return err
	}
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, s.namespace, s.narrow)
	return s.follow(ctx, factory.ForResource(s.resource).Informer())
}

// runTypedInformer does what generated clients and informers do.
func runTypedInformer(ctx context.Context, s *session) error {
	config := rest.CopyConfig(s.config)
	config.GroupVersion = &quoteVersion
	config.APIPath = "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(newScheme()).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return err
	}
	source := cache.NewFilteredListWatchFromClient(client, s.resource.Resource, s.namespace, s.narrow)
	return s.follow(ctx, cache.NewSharedIndexInformer(source, &Quote{}, 0, cache.Indexers{}))
}

func (s *session) narrow(options *metav1.ListOptions) {
	options.LabelSelector = s.labels
	options.FieldSelector = s.fields
	options.ShardSelector = s.shard
}

// follow runs an informer, tells what it tells, and answers with what it holds.
func (s *session) follow(ctx context.Context, informer cache.SharedIndexInformer) error {
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(object any, initial bool) { s.tell("added", object, fields{"initial": initial}) },
		UpdateFunc: func(_, object any) { s.tell("updated", object, nil) },
		DeleteFunc: func(object any) {
			tombstone, unseen := object.(cache.DeletedFinalStateUnknown)
			if unseen {
				object = tombstone.Obj
			}
			s.tell("deleted", object, fields{"unseen": unseen})
		},
	})
	if err != nil {
		return err
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		informer.RunWithContext(ctx)
	}()
	if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		s.emit("synced", fields{"count": len(informer.GetStore().ListKeys())})
	}
	s.answer(ctx, func() fields {
		objects := map[string]any{}
		for _, object := range informer.GetStore().List() {
			objects[keyOf(object)] = object
		}
		return fields{"objects": objects, "resourceVersion": informer.LastSyncResourceVersion()}
	})
	<-stopped
	return nil
}

func (s *session) tell(event string, object any, f fields) {
	all := fields{"key": keyOf(object), "resourceVersion": versionOf(object)}
	for name, value := range f {
		all[name] = value
	}
	s.emit(event, all)
}

func keyOf(object any) string {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		panic(err)
	}
	return key
}

func versionOf(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return accessor.GetResourceVersion()
}
