package main

import (
	"encoding/json"
	"sort"
	"strings"

	"k8s.io/kube-openapi/pkg/spec3"
)

// unresolvedReferences gives the `$ref`s of a document that name nothing in it.
func unresolvedReferences(document *spec3.OpenAPI) []string {
	missing := []string{}
	var walk func(any)
	walk = func(value any) {
		switch typed := value.(type) {
		case map[string]any:
			if reference, ok := typed["$ref"].(string); ok {
				name, local := strings.CutPrefix(reference, "#/components/schemas/")
				if !local || document.Components.Schemas[name] == nil {
					missing = append(missing, reference)
				}
			}
			for _, inner := range typed {
				walk(inner)
			}
		case []any:
			for _, inner := range typed {
				walk(inner)
			}
		}
	}
	walk(map[string]any(asFields(document)))
	sort.Strings(missing)
	return missing
}

// kindsOf gives the kinds that a document has schemas of, by `x-kubernetes-group-version-kind`.
func kindsOf(document *spec3.OpenAPI) map[string]bool {
	kinds := map[string]bool{}
	for _, schema := range document.Components.Schemas {
		marks, _ := schema.Extensions["x-kubernetes-group-version-kind"].([]any)
		for _, mark := range marks {
			if kind, ok := mark.(map[string]any)["kind"].(string); ok {
				kinds[kind] = true
			}
		}
	}
	return kinds
}

// asFields gives an object as JSON has it.
func asFields(object any) fields {
	bytes, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	var decoded fields
	if err := json.Unmarshal(bytes, &decoded); err != nil {
		panic(err)
	}
	return decoded
}
