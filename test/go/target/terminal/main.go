// Command terminal runs a command of a pod under a terminal, by client-go as kubectl does, which needs a real one for that. A line
// on stdin is the terminal's next size (80x24); the end of stdin is that of the command's.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
)

func main() {
	pod := flag.String("pod", "running", "the pod")
	spdy := flag.Bool("spdy", false, "SPDY rather than WebSocket")
	flag.Parse()
	if err := run(*pod, *spdy, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(pod string, spdy bool, command []string) error {
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		return err
	}
	client, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return err
	}
	terminal, err := open(client, pod, spdy, command)
	if err != nil {
		return err
	}
	typed, end := io.Pipe()
	sizes := make(resizes)
	go func() {
		defer end.Close()
		for scanner := bufio.NewScanner(os.Stdin); scanner.Scan(); {
			var size remotecommand.TerminalSize
			if _, err := fmt.Sscanf(scanner.Text(), "%dx%d", &size.Width, &size.Height); err != nil {
				panic(err) // a test that cannot say anything must not pass
			}
			sizes <- size
		}
	}()
	return terminal.StreamWithContext(context.Background(), remotecommand.StreamOptions{
		Stdin: typed, Stdout: os.Stdout, Tty: true, TerminalSizeQueue: sizes,
	})
}

func open(client *rest.Config, pod string, spdy bool, command []string) (remotecommand.Executor, error) {
	client.GroupVersion = &core.SchemeGroupVersion
	client.APIPath = "/api"
	client.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	api, err := rest.RESTClientFor(client)
	if err != nil {
		return nil, err
	}
	options := &core.PodExecOptions{Container: "main", Command: command, Stdin: true, Stdout: true, TTY: true}
	place := api.Post().Namespace("default").Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(options, scheme.ParameterCodec).URL()
	if spdy {
		return remotecommand.NewSPDYExecutor(client, http.MethodPost, place)
	}
	return remotecommand.NewWebSocketExecutor(client, http.MethodGet, place.String())
}

// resizes are the sizes of a terminal, one after the other.
type resizes chan remotecommand.TerminalSize

func (r resizes) Next() *remotecommand.TerminalSize {
	size := <-r
	return &size
}
