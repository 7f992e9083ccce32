// The oracle: Kubernetes' own server of custom resources over an etcd of its own, both in this process. It reads one line
// from stdin, a JSON array of CustomResourceDefinitions, prints one line once they are all served, then does as further
// lines say, and ends with its stdin.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
)

// ready is the line that it prints.
type ready struct {
	URL   string `json:"url"`
	Token string `json:"token"` // of a user who may do everything
	CA    string `json:"ca"`    // PEM
	Name  string `json:"name"`  // that its certificate is for
	Own   string `json:"own"`   // PEM of the certificate that it shows to those who do not ask for that name, 127.0.0.1 among its names
}

// place is where the oracle keeps things and listens.
type place struct {
	folder   string
	port     int
	clientCA string // file, or ""
}

func main() {
	logs := flag.Bool("logs", false, "write what the libraries log to stderr")
	var place place
	flag.StringVar(&place.folder, "data", "", "folder that outlives the process: the next one goes on with its objects (default a temporary one)")
	flag.IntVar(&place.port, "port", 0, "where to listen (default any)")
	flag.StringVar(&place.clientCA, "client-ca", "", "file with the authority of client certificates that are let in")
	flag.Parse()
	if !*logs {
		silence()
	}
	if err := run(place); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// silence keeps what the libraries log off stderr, errors included: they are of controllers that are being stopped.
func silence() {
	logging := flag.NewFlagSet("logging", flag.PanicOnError)
	klog.InitFlags(logging)
	logging.Set("logtostderr", "false")
	logging.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
}

func run(place place) (err error) {
	if place.folder == "" {
		place.folder, err = os.MkdirTemp("", "oracle")
		if err != nil {
			return err
		}
		defer os.RemoveAll(place.folder)
	}
	definitions, commands, end, err := readInput(os.Stdin)
	if err != nil {
		return err
	}
	store, err := startStore(place.folder)
	if err != nil {
		return err
	}
	defer store.Close()

	ctx, cancel := context.WithCancel(end)
	served, err := startServer(ctx, place, storeURL(store))
	if err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		err = errors.Join(err, <-served.ended)
	}()
	if err := define(ctx, served.api, definitions); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(served.ready); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case command := <-commands:
			if command != "compact" {
				return fmt.Errorf("stdin: no such command: %q", command)
			}
			revision, err := compact(ctx, store)
			if err != nil {
				return err
			}
			fmt.Printf("{\"compacted\":%d}\n", revision)
		}
	}
}

// readInput gives the first line, the commands that follow, and a context that ends with the input, or with a signal.
func readInput(from io.Reader) ([]json.RawMessage, <-chan string, context.Context, error) {
	reader := bufio.NewReader(from)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return nil, nil, nil, fmt.Errorf("stdin: expected a line with definitions: %w", err)
	}
	var definitions []json.RawMessage
	if err := json.Unmarshal(line, &definitions); err != nil {
		return nil, nil, nil, fmt.Errorf("stdin: expected a JSON array of definitions: %w", err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	commands := make(chan string)
	go func() {
		defer cancel()
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			select {
			case commands <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return definitions, commands, ctx, nil
}
