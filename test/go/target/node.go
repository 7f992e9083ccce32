package main

import (
	"net"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/util/proxy"
	apiproxy "k8s.io/apiserver/pkg/util/proxy"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// node serves the streams of containers by Kubernetes' own library, as container runtimes do: SPDY alone, to an API server.
type node struct {
	streams streaming.Server
}

func startNode(runtime streaming.Runtime) (*node, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/"}
	streams, err := streaming.NewServer(config, runtime)
	if err != nil {
		return nil, err
	}
	go http.Serve(listener, streams)
	return &node{streams: streams}, nil
}

// asked is which streams of a container a client wants.
type asked struct {
	container                  string
	command                    []string
	stdin, stdout, stderr, tty bool
}

func (n *node) exec(a asked) (string, error) {
	made, err := n.streams.GetExec(&cri.ExecRequest{
		ContainerId: a.container, Cmd: a.command, Tty: a.tty, Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr && !a.tty,
	})
	if err != nil {
		return "", err
	}
	return made.Url, nil
}

func (n *node) attach(a asked) (string, error) {
	made, err := n.streams.GetAttach(&cri.AttachRequest{
		ContainerId: a.container, Tty: a.tty, Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr && !a.tty,
	})
	if err != nil {
		return "", err
	}
	return made.Url, nil
}

func (n *node) portForward(pod string) (string, error) {
	made, err := n.streams.GetPortForward(&cri.PortForwardRequest{PodSandboxId: pod})
	if err != nil {
		return "", err
	}
	return made.Url, nil
}

// toNode passes an upgrade on. WebSockets of today's clients are translated on the way, where the cluster is no older one.
func (c *cluster) toNode(place string, translated func(location *url.URL, plain http.Handler) http.Handler) (http.Handler, error) {
	location, err := url.Parse(place)
	if err != nil {
		return nil, err
	}
	plain := proxy.NewUpgradeAwareHandler(location, nil, false, true, responder{})
	if c.older {
		return plain, nil
	}
	return translated(location, plain), nil
}

// asCommand has channels of version 5 made streams of version 4.
func asCommand(a asked) func(*url.URL, http.Handler) http.Handler {
	options := apiproxy.Options{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Tty: a.tty}
	return func(location *url.URL, plain http.Handler) http.Handler {
		channels := apiproxy.NewStreamTranslatorHandler(location, nil, 0, options)
		return apiproxy.NewTranslatingHandler(plain, channels, wsstream.IsWebSocketRequestWithStreamCloseProtocol)
	}
}

// asTunnel has SPDY taken out of the WebSocket that it comes in.
func asTunnel(_ *url.URL, plain http.Handler) http.Handler {
	tunnels := apiproxy.NewTunnelingHandler(plain)
	return apiproxy.NewTranslatingHandler(plain, tunnels, wsstream.IsWebSocketRequestWithTunnelingProtocol)
}
