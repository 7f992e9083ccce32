package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// api speaks to the server as its own loopback client.
type api struct {
	url  string
	http *http.Client
}

func apiOf(config *rest.Config) (*api, error) {
	client, err := rest.HTTPClientFor(config)
	return &api{url: config.Host, http: client}, err
}

// call gives the body of a 2xx answer.
func (a *api) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return answer, err
}

// define creates all definitions that are not there from an earlier time, then waits until each is served.
func define(ctx context.Context, server *api, definitions []json.RawMessage) error {
	names := make([]string, len(definitions))
	for at, definition := range definitions {
		var crd apiextensions.CustomResourceDefinition
		if err := json.Unmarshal(definition, &crd); err != nil {
			return fmt.Errorf("definition %d: %w", at, err)
		}
		names[at] = crd.Name
		if _, err := server.call(ctx, http.MethodGet, definitionsPath+"/"+crd.Name, nil); err == nil {
			continue
		}
		if _, err := server.call(ctx, http.MethodPost, definitionsPath, definition); err != nil {
			return fmt.Errorf("definition %d: %w", at, err)
		}
	}
	for _, name := range names {
		if err := eventually(ctx, func() error { return listable(ctx, server, name) }); err != nil {
			return fmt.Errorf("definition %s: %w", name, err)
		}
	}
	return nil
}

// listable is whether objects of a definition can be listed in all its versions.
func listable(ctx context.Context, server *api, name string) error {
	body, err := server.call(ctx, http.MethodGet, definitionsPath+"/"+name, nil)
	if err != nil {
		return err
	}
	var crd apiextensions.CustomResourceDefinition
	if err := json.Unmarshal(body, &crd); err != nil {
		return err
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensions.NonStructuralSchema && condition.Status == apiextensions.ConditionTrue {
			return fmt.Errorf("not structural: %s", condition.Message)
		}
	}
	for _, version := range crd.Spec.Versions {
		path := fmt.Sprintf("/apis/%s/%s/%s", crd.Spec.Group, version.Name, crd.Spec.Names.Plural)
		if _, err := server.call(ctx, http.MethodGet, path, nil); err != nil {
			return err
		}
	}
	return nil
}
