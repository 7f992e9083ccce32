// Command target is a plain cluster of a few pods: what a virtual workspace passes requests on to. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	older := flag.Bool("older", false, "pass WebSockets on to nodes as they came, as API servers before 1.29 do")
	flag.Parse()
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer end()
	if err := run(ctx, end, *older); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, end context.CancelFunc, older bool) error {
	out := newOutput(os.Stdout)
	logs := newPodLogs()
	ports, err := servePorts()
	if err != nil {
		return err
	}
	node, err := startNode(&containers{out: out, ports: ports})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	cluster := &cluster{out: out, logs: logs, node: node, older: older}
	failed := make(chan error, 1)
	go func() { failed <- http.Serve(listener, cluster.handler()) }()
	out.emit("listening", fields{"url": "http://" + listener.Addr().String()})
	go obey(os.Stdin, logs, end)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}
