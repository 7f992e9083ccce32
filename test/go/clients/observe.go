package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// observe tells of every request and, since informers keep them to themselves, of the bookmarks, the errors and the end
// of every watch.
func (o *output) observe(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		query := req.URL.Query()
		verb := verbOf(req)
		request := fields{"verb": verb, "path": req.URL.Path}
		for _, name := range []string{"resourceVersion", "resourceVersionMatch", "limit", "continue", "labelSelector"} {
			if query.Has(name) {
				request[name] = query.Get(name)
			}
		}
		res, err := next.RoundTrip(req)
		if err != nil {
			request["error"] = err.Error()
			o.emit("request", request)
			return nil, err
		}
		request["code"] = res.StatusCode
		o.emit("request", request)
		isJSON := strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
		if res.StatusCode == http.StatusOK && query.Has("watch") && isJSON {
			res.Body = &watchTap{ReadCloser: res.Body, out: o, resourceVersion: query.Get("resourceVersion")}
		}
		return res, nil
	})
}

// verbOf says how objects are asked for; `watchlist` is a watch that brings the list along.
func verbOf(req *http.Request) string {
	query := req.URL.Query()
	switch {
	case req.Method != http.MethodGet:
		return req.Method
	case query.Get("sendInitialEvents") == "true":
		return "watchlist"
	case query.Has("watch"):
		return "watch"
	}
	return "get"
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// watchTap reads along with a watch.
type watchTap struct {
	io.ReadCloser
	out             *output
	resourceVersion string
	line            bytes.Buffer
	over            bool
}

// frame is what is looked at of an event: an object's metadata, or a Status.
type frame struct {
	Type   string `json:"type"`
	Object struct {
		Kind     string            `json:"kind"`
		Metadata metav1.ObjectMeta `json:"metadata"`
		Code     int               `json:"code"`
		Reason   string            `json:"reason"`
		Message  string            `json:"message"`
	} `json:"object"`
}

func (t *watchTap) Read(to []byte) (int, error) {
	n, err := t.ReadCloser.Read(to)
	for rest := to[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			t.line.Write(rest)
			break
		}
		t.line.Write(rest[:end])
		t.tell()
		rest = rest[end+1:]
	}
	if err != nil {
		t.end(err)
	}
	return n, err
}

func (t *watchTap) Close() error {
	t.end(errors.New("closed by the client"))
	return t.ReadCloser.Close()
}

func (t *watchTap) tell() {
	defer t.line.Reset()
	var f frame
	if err := json.Unmarshal(t.line.Bytes(), &f); err != nil {
		t.out.emit("bad-frame", fields{"error": err.Error(), "frame": t.line.String()})
		return
	}
	metadata := f.Object.Metadata
	switch f.Type {
	case "BOOKMARK":
		end := metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true"
		t.out.emit("bookmark", fields{"kind": f.Object.Kind, "resourceVersion": metadata.ResourceVersion, "initialEventsEnd": end})
	case "ERROR":
		t.out.emit("watch-error", fields{"code": f.Object.Code, "reason": f.Object.Reason, "message": f.Object.Message})
	}
}

// end tells how a watch ended: with no error when the server ended it, cleanly.
func (t *watchTap) end(err error) {
	if t.over {
		return
	}
	t.over = true
	ended := fields{"resourceVersion": t.resourceVersion, "clean": errors.Is(err, io.EOF)}
	if !errors.Is(err, io.EOF) {
		ended["error"] = err.Error()
	}
	if t.line.Len() > 0 {
		ended["cut"] = t.line.String()
	}
	t.out.emit("watch-end", ended)
}
