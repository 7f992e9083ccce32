package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"
)

// runList reads a list in pages with client-go's pager.
func runList(ctx context.Context, s *session) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page, err := client.Resource(s.resource).Namespace(s.namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		s.emit("page", fields{"count": len(page.Items), "resourceVersion": page.GetResourceVersion(), "remaining": page.GetRemainingItemCount()})
		if s.pause && page.GetContinue() != "" {
			s.next(ctx)
		}
		return page, nil
	})
	pages.PageSize = s.limit
	options := metav1.ListOptions{ResourceVersion: s.from}
	s.narrow(&options)
	list, paginated, err := pages.ListWithAlloc(ctx, options)
	if err != nil {
		return err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	objects := []string{}
	versions := []string{}
	err = meta.EachListItem(list, func(object runtime.Object) error {
		objects = append(objects, keyOf(object))
		versions = append(versions, versionOf(object))
		return nil
	})
	s.emit("listed", fields{"keys": objects, "versions": versions, "paginated": paginated, "resourceVersion": accessor.GetResourceVersion()})
	return err
}
