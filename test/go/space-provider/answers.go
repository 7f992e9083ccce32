package main

import (
	"encoding/json"
	"net/http"
)

// status is why something was not done, as Kubernetes says it.
type status struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Reason     string         `json:"reason,omitempty"`
	Code       int            `json:"code"`
	Details    map[string]any `json:"details,omitempty"`
}

func refuse(w http.ResponseWriter, code int, message string) {
	answer(w, code, status{Kind: "Status", APIVersion: "v1", Status: "Failure", Message: message, Code: code})
}

// absent is said of a space, in as many words: any other 404 would say nothing of it.
func absent(w http.ResponseWriter, name string) {
	answer(w, http.StatusNotFound, status{
		Kind: "Status", APIVersion: "v1", Status: "Failure", Reason: "NotFound", Code: http.StatusNotFound,
		Message: "spaces \"" + name + "\" not found",
		Details: map[string]any{"kind": "spaces", "name": name},
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
