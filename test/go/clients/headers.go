package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
)

// headerSets are the groups of requests, one after the other on one connection.
var headerSets = []headerSet{{1, 0}, {2000, 0}, {2000, 100}, {900, 1000}, {1000, 2000}, {1, 0}}

// largeFirst begins with more than a client may send before it has heard of the server's limits.
var largeFirst = []headerSet{{2000, 100}, {2000, 100}}

type headerSet struct{ count, length int }

// runHeaders sends groups as a front proxy does, and tells of each answer whether it names them all.
func runHeaders(ctx context.Context, s *session) error {
	turns := []struct {
		protocol string
		sets     []headerSet
	}{{"http/1.1", headerSets}, {"h2", headerSets}, {"h2", largeFirst}}
	for _, turn := range turns {
		config := rest.CopyConfig(s.config)
		config.TLSClientConfig.NextProtos = []string{turn.protocol}
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		for _, set := range turn.sets {
			groups := make([]string, set.count)
			for at := range groups {
				groups[at] = fmt.Sprintf("Zoë-%d-%s", at, strings.Repeat("g", set.length))
			}
			s.emit("answered", sendGroups(ctx, client, config.Host, groups))
		}
	}
	return nil
}

func sendGroups(ctx context.Context, client *http.Client, url string, groups []string) map[string]any {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	request.Header["X-Remote-User"] = []string{"alice"}
	request.Header["X-Remote-Group"] = groups
	response, err := client.Do(request)
	if err != nil {
		return map[string]any{"groups": len(groups), "error": err.Error()}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return map[string]any{"groups": len(groups), "error": err.Error()}
	}
	var seen struct{ Groups []string }
	if response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, &seen); err != nil {
			return map[string]any{"groups": len(groups), "error": err.Error()}
		}
	}
	return map[string]any{
		"groups":   len(groups),
		"protocol": response.Proto,
		"status":   response.StatusCode,
		"whole":    slices.Equal(seen.Groups, append(slices.Clone(groups), "system:authenticated")),
	}
}
