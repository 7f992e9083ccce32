package main

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	heartbeat   = 200 * time.Millisecond
	longestBody = 64 << 10
)

var (
	paths = regexp.MustCompile(`^/v1/spaces/([^/]+)(/kubeconfig)?$`)
	names = regexp.MustCompile(`^[A-Za-z0-9_][-._A-Za-z0-9]{0,252}$`)
)

// provider answers as the protocol of space providers says.
type provider struct {
	token  string
	spaces *spaces
	ending context.Context
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.token)) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	path := r.URL.EscapedPath()
	switch {
	case path == "/v1/status":
		methods(w, r, map[string]func(){"GET": func() { p.status(w) }})
	case path == "/v1/spaces":
		methods(w, r, map[string]func(){"GET": func() { p.list(w, r) }})
	case paths.MatchString(path):
		match := paths.FindStringSubmatch(path)
		name, err := url.PathUnescape(match[1])
		if err != nil || !names.MatchString(name) {
			refuse(w, http.StatusBadRequest, "name: it is none that a space can have")
			return
		}
		p.named(w, r, name, match[2] != "")
	default:
		refuse(w, http.StatusNotFound, "nothing is at this path")
	}
}

func (p *provider) named(w http.ResponseWriter, r *http.Request, name string, isKubeconfig bool) {
	if r.URL.Query().Has("parent") {
		refuse(w, http.StatusNotImplemented, "parent: there are no spaces below others here")
		return
	}
	if isKubeconfig {
		methods(w, r, map[string]func(){"GET": func() { p.kubeconfig(w, r, name) }})
		return
	}
	methods(w, r, map[string]func(){
		"GET": func() {
			if one, there := p.spaces.get(name); there {
				answer(w, http.StatusOK, one)
			} else {
				absent(w, name)
			}
		},
		"PUT": func() { p.create(w, r, name) },
		"DELETE": func() {
			p.spaces.remove(name)
			w.WriteHeader(http.StatusAccepted)
		},
	})
}

func (p *provider) status(w http.ResponseWriter) {
	able := map[string]bool{"create": true, "delete": true, "watch": true, "hierarchy": false}
	answer(w, http.StatusOK, map[string]any{"ready": true, "version": "go", "capabilities": able})
}

func (p *provider) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch watch := query.Get("watch"); {
	case query.Has("parent"):
		refuse(w, http.StatusNotImplemented, "parent: there are no spaces below others here")
	case watch == "1":
		p.watch(w, r)
	case watch != "" && watch != "0":
		refuse(w, http.StatusBadRequest, "watch: give 1 or 0")
	default:
		p.page(w, query)
	}
}

// page is a part of the list: the token for the next one is the last name.
func (p *provider) page(w http.ResponseWriter, query url.Values) {
	after, err := base64.RawURLEncoding.DecodeString(query.Get("continue"))
	if err != nil || (query.Has("continue") && !names.Match(after)) {
		refuse(w, http.StatusBadRequest, "continue: it is none that a list has said")
		return
	}
	items := p.spaces.list(string(after))
	limit := len(items)
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			refuse(w, http.StatusBadRequest, "limit: give a whole number, 1 at least")
			return
		}
	}
	list := map[string]any{"items": items}
	if limit < len(items) {
		list["items"] = items[:limit]
		list["continue"] = base64.RawURLEncoding.EncodeToString([]byte(items[limit-1].Name))
	}
	answer(w, http.StatusOK, list)
}

// watch says what changes, a line of JSON for each, and something else when nothing has for a while.
func (p *provider) watch(w http.ResponseWriter, r *http.Request) {
	changes, leave := p.spaces.listen()
	defer leave()
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	event := map[string]string{"type": "BOOKMARK"}
	for {
		if lines.Encode(event) != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case name := <-changes:
			event = map[string]string{"type": "CHANGED"}
			if name != "" {
				event["name"] = name
			}
		case <-time.After(heartbeat):
			event = map[string]string{"type": "BOOKMARK"}
		case <-r.Context().Done():
			return
		case <-p.ending.Done():
			return
		}
	}
}

func (p *provider) create(w http.ResponseWriter, r *http.Request, name string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		refuse(w, http.StatusRequestEntityTooLarge, "the body is longer than 64 KiB")
		return
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the body has to be application/json")
		return
	}
	wish := map[string]any{}
	if json.Unmarshal(body, &wish) != nil || len(wish) > 0 || !strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
		refuse(w, http.StatusBadRequest, "the body has to be an object without fields")
		return
	}
	p.spaces.create(name)
	w.WriteHeader(http.StatusAccepted)
}

func (p *provider) kubeconfig(w http.ResponseWriter, r *http.Request, name string) {
	scope := r.URL.Query().Get("scope")
	if scope != "incluster" && scope != "external" {
		refuse(w, http.StatusBadRequest, "scope: give incluster or external")
		return
	}
	one, there := p.spaces.get(name)
	if !there {
		absent(w, name)
		return
	}
	if one.Phase != "Ready" {
		refuse(w, http.StatusConflict, "the space is not ready: "+one.Message)
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintf(w, kubeconfig, scope, name)
}

// kubeconfig leads nowhere: to a host that is called after the scope.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: it
clusters: [{ name: it, cluster: { server: "https://%s.example.com/%s" } }]
users: [{ name: it, user: { token: of-this-space-alone } }]
contexts: [{ name: it, context: { cluster: it, user: it } }]
`

// methods does what a path has for the request's method.
func methods(w http.ResponseWriter, r *http.Request, by map[string]func()) {
	if run, known := by[r.Method]; known {
		run()
		return
	}
	refuse(w, http.StatusMethodNotAllowed, r.Method+" is not what this path has")
}
