package main

import (
	"context"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// runTable asks for tables: a list, then a watch from its version.
func runTable(ctx context.Context, s *session) error {
	config := rest.CopyConfig(s.config)
	config.GroupVersion = &quoteVersion
	config.APIPath = "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(newScheme()).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return err
	}
	request := func() *rest.Request {
		return client.Get().Resource(s.resource.Resource).SetHeader("Accept", asTable).Param("labelSelector", s.labels)
	}
	table := &metav1.Table{}
	if err := request().Do(ctx).Into(table); err != nil {
		return err
	}
	s.emit("table", tableFields(table))
	events, err := request().Param("watch", "true").Param("allowWatchBookmarks", "true").Param("resourceVersion", table.ResourceVersion).Watch(ctx)
	if err != nil {
		return err
	}
	defer events.Stop()
	s.emit("watching", fields{"resourceVersion": table.ResourceVersion})
	for event := range events.ResultChan() {
		if row, ok := event.Object.(*metav1.Table); ok && event.Type != watch.Bookmark {
			all := tableFields(row)
			all["type"] = event.Type
			s.emit("row", all)
		}
	}
	return nil
}

func tableFields(table *metav1.Table) fields {
	columns := []string{}
	for _, column := range table.ColumnDefinitions {
		columns = append(columns, strings.Join([]string{column.Name, column.Type, column.Format}, " "))
	}
	cells := [][]any{}
	names := []string{}
	for _, row := range table.Rows {
		cells = append(cells, row.Cells)
		partial := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(row.Object.Raw, partial); err != nil {
			panic(err)
		}
		names = append(names, partial.Name)
	}
	return fields{"columns": columns, "cells": cells, "names": names, "resourceVersion": table.ResourceVersion}
}
