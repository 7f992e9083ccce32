package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	core "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// cluster answers what kubectl asks an API server before and while it works with pods.
type cluster struct {
	out   *output
	logs  *podLogs
	node  *node
	older bool // as before 1.29: whatever is no SPDY goes to the node as it came
}

func (c *cluster) handler() http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, body any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, body) })
	}
	answer("GET /version", version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2", Platform: "test/target"})
	answer("GET /api", meta.APIVersions{TypeMeta: meta.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	answer("GET /apis", meta.APIGroupList{TypeMeta: meta.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}})
	answer("GET /api/v1", discovered)
	answer("GET /api/v1/namespaces/default/pods", listed())
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/{pod}", c.pod(func(w http.ResponseWriter, _ *http.Request, pod *core.Pod) error {
		write(w, http.StatusOK, pod)
		return nil
	}))
	mux.HandleFunc("GET /api/v1/namespaces/default/pods/{pod}/log", c.pod(func(w http.ResponseWriter, req *http.Request, pod *core.Pod) error {
		c.logs.of(pod.Name).serve(w, req)
		return nil
	}))
	for subresource, open := range map[string]opener{"exec": c.exec, "attach": c.attach, "portforward": c.portForward} {
		for _, method := range []string{"GET", "POST"} {
			mux.HandleFunc(method+" /api/v1/namespaces/default/pods/{pod}/"+subresource, c.pod(opened(open)))
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, kerrors.NewGenericServerResponse(http.StatusNotFound, "", core.Resource(""), "", "", 0, false))
	})
	return c.told(mux)
}

// told says of each request who asks for what, by which protocol, and when it is over.
func (c *cluster) told(served http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := req.Header
		c.out.emit("request", fields{
			"method": req.Method, "path": req.URL.Path, "query": req.URL.RawQuery,
			"upgrade": h.Get("Upgrade"), "protocols": protocols(h),
			"user": h.Get("Impersonate-User"), "groups": h.Values("Impersonate-Group"),
		})
		defer c.out.emit("over", fields{"method": req.Method, "path": req.URL.Path})
		served.ServeHTTP(w, req)
	})
}

// protocols are those that a client offers to speak once the connection is upgraded.
func protocols(h http.Header) []string {
	offered := []string{}
	for _, name := range []string{"X-Stream-Protocol-Version", "Sec-WebSocket-Protocol"} {
		for _, line := range h.Values(name) {
			for _, one := range strings.Split(line, ",") {
				offered = append(offered, strings.TrimSpace(one))
			}
		}
	}
	return offered
}

type handler func(http.ResponseWriter, *http.Request, *core.Pod) error

// pod finds the pod that a request is about. An error is answered with its Status.
func (c *cluster) pod(serve handler) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		name := req.PathValue("pod")
		pod, ok := pods[name]
		if !ok {
			fail(w, kerrors.NewNotFound(core.Resource("pods"), name))
			return
		}
		if err := serve(w, req, pod); err != nil {
			fail(w, err)
		}
	}
}

// opener gives what serves the streams of a pod.
type opener func(req *http.Request, pod *core.Pod) (http.Handler, error)

func opened(open opener) handler {
	return func(w http.ResponseWriter, req *http.Request, pod *core.Pod) error {
		served, err := open(req, pod)
		if err == nil {
			served.ServeHTTP(w, req)
		}
		return err
	}
}

// responder answers for a proxy that cannot go on.
type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) }

func fail(w http.ResponseWriter, err error) {
	status := kerrors.APIStatus(kerrors.NewInternalError(err))
	errors.As(err, &status)
	told := status.Status()
	told.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	write(w, int(told.Code), told)
}

func write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body)
}
