package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
)

// runDiscovery reads all that clients read about an API before they use it.
func runDiscovery(ctx context.Context, s *session) error {
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	version, err := client.ServerVersionWithContext(ctx)
	if err != nil {
		return err
	}
	s.emit("version", fields{"gitVersion": version.GitVersion, "major": version.Major, "minor": version.Minor})
	aggregated, err := s.discover(ctx, "aggregated", client)
	if err != nil {
		return err
	}
	if _, err := s.discover(ctx, "legacy", client.WithLegacyWithContext(ctx)); err != nil {
		return err
	}
	preferred, err := client.ServerPreferredResourcesWithContext(ctx)
	if err != nil {
		return err
	}
	s.emit("preferred", fields{"resources": resourceNames(preferred)})
	if err := s.mapKinds(ctx, client, aggregated); err != nil {
		return err
	}
	if err := s.readOpenAPI(client, aggregated); err != nil {
		return err
	}
	document, err := client.OpenAPISchemaWithContext(ctx)
	if err != nil {
		return err
	}
	s.emit("openapi-v2", fields{"definitions": len(document.GetDefinitions().GetAdditionalProperties()), "paths": len(document.GetPaths().GetPath())})
	return nil
}

func (s *session) discover(ctx context.Context, mode string, client discovery.DiscoveryInterfaceWithContext) ([]*metav1.APIResourceList, error) {
	groups, resources, err := client.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil {
		return nil, err
	}
	versions := []string{}
	for _, group := range groups {
		for _, version := range group.Versions {
			versions = append(versions, version.GroupVersion)
		}
	}
	s.emit("discovered", fields{"mode": mode, "versions": versions, "resources": describe(resources)})
	return resources, nil
}

// describe gives what both forms of discovery say of a resource.
func describe(lists []*metav1.APIResourceList) []string {
	lines := []string{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			lines = append(lines, fmt.Sprintf("%s/%s %s %s namespaced=%t verbs=%s short=%s categories=%s",
				list.GroupVersion, r.Name, r.Kind, r.SingularName, r.Namespaced, r.Verbs, r.ShortNames, r.Categories))
		}
	}
	sort.Strings(lines)
	return lines
}

func resourceNames(lists []*metav1.APIResourceList) []string {
	names := []string{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			names = append(names, list.GroupVersion+"/"+resource.Name)
		}
	}
	sort.Strings(names)
	return names
}

// mapKinds finds every kind by kind, by plural, by singular and by short name.
func (s *session) mapKinds(ctx context.Context, client *discovery.DiscoveryClient, lists []*metav1.APIResourceList) error {
	groups, err := restmapper.GetAPIGroupResourcesWithContext(ctx, client)
	if err != nil {
		return err
	}
	plain := restmapper.NewDiscoveryRESTMapperWithContext(groups)
	mapper := restmapper.NewShortcutExpanderWithContext(plain, client, nil)
	found := []string{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, resource := range list.APIResources {
			kind := version.WithKind(resource.Kind)
			mapping, err := mapper.RESTMappingWithContext(ctx, kind.GroupKind(), kind.Version)
			if err != nil {
				return err
			}
			names := append([]string{resource.Name, resource.SingularName}, resource.ShortNames...)
			for _, name := range names {
				back, err := mapper.KindForWithContext(ctx, schema.GroupVersionResource{Resource: name})
				if err != nil {
					return err
				}
				if back != kind {
					return fmt.Errorf("%s is %s, not %s", name, back, kind)
				}
			}
			found = append(found, fmt.Sprintf("%s=%s by %s", kind.Kind, mapping.Resource.Resource, strings.Join(names, ",")))
		}
	}
	s.emit("mapped", fields{"kinds": found})
	return nil
}

// readOpenAPI reads the OpenAPI v3 document of every version, and makes of it what server-side apply makes of it: a type
// of every kind, for which every reference must resolve.
func (s *session) readOpenAPI(client discovery.OpenAPIV3SchemaInterface, lists []*metav1.APIResourceList) error {
	root := openapi3.NewRoot(client.OpenAPIV3())
	versions, err := root.GroupVersions()
	if err != nil {
		return err
	}
	for _, version := range versions {
		document, err := root.GVSpec(version)
		if err != nil {
			return fmt.Errorf("%s: %w", version, err)
		}
		if _, err := managedfields.NewTypeConverter(document.Components.Schemas, false); err != nil {
			return fmt.Errorf("%s: %w", version, err)
		}
		unresolved := unresolvedReferences(document)
		kinds := kindsOf(document)
		for _, list := range lists {
			for _, resource := range list.APIResources {
				if list.GroupVersion == version.String() && !kinds[resource.Kind] {
					return fmt.Errorf("%s has no schema of %s", version, resource.Kind)
				}
			}
		}
		s.emit("openapi-v3", fields{"version": version.String(), "schemas": len(document.Components.Schemas), "paths": len(document.Paths.Paths), "unresolved": unresolved})
	}
	return nil
}
