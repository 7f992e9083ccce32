package main

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const everywhere = "/clusters/*"

// marker labels what it sees, where it is, in the version in which it is there.
type marker struct {
	*session
	resource schema.GroupVersionResource
}

// runMarker is a controller over all logical clusters that knows objects by their metadata alone, as garbage collectors
// and quotas do: what it learns from that has to be enough to find each of them again.
func runMarker(ctx context.Context, s *session) error {
	client, err := metadata.NewForConfig(s.config)
	if err != nil {
		return err
	}
	informer := metadatainformer.NewFilteredMetadataInformer(client, s.resource, "", 0, cache.Indexers{}, s.narrow).Informer()
	m := &marker{session: s, resource: s.resource}
	seen := make(chan *metav1.PartialObjectMetadata, 1000)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { seen <- object.(*metav1.PartialObjectMetadata) },
		UpdateFunc: func(_, object any) { seen <- object.(*metav1.PartialObjectMetadata) },
	}); err != nil {
		return err
	}
	go informer.RunWithContext(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case object := <-seen:
			if object.Labels["marked"] == "" {
				if err := m.mark(ctx, object); err != nil {
					return err
				}
			}
		}
	}
}

func (m *marker) mark(ctx context.Context, object *metav1.PartialObjectMetadata) error {
	cluster, original := object.Annotations["kcp.io/cluster"], object.Annotations["kcp.io/original-api-version"]
	version, err := schema.ParseGroupVersion(original)
	if err != nil {
		return err
	}
	if cluster == "" || version.Group != m.resource.Group {
		return fmt.Errorf("%s says that it is %q in %q", object.Name, original, cluster)
	}
	config := rest.CopyConfig(m.config)
	config.Host = strings.TrimSuffix(config.Host, everywhere) + "/clusters/" + cluster
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	patch := []byte(`{"metadata":{"uid":"` + string(object.UID) + `","labels":{"marked":"` + version.Version + `"}}}`)
	there := client.Resource(version.WithResource(m.resource.Resource)).Namespace(object.Namespace)
	if _, err := there.Patch(ctx, object.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	m.emit("marked", fields{"name": object.Name, "cluster": cluster, "version": original})
	return nil
}
