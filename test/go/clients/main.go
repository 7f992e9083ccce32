// Clients runs one client of the Kubernetes Go libraries against a server, and tells on stdout, a JSON object a line, what
// it saw. Tests drive it: a line on stdin is a question or a go-ahead, the end of stdin ends it.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var commands = map[string]func(context.Context, *session) error{
	"informer":          runDynamicInformer,
	"typed-informer":    runTypedInformer,
	"metadata-informer": runMetadataInformer,
	"marker":            runMarker,
	"cache":             runController,
	"discovery":         runDiscovery,
	"list":              runList,
	"watch":             runWatch,
	"table":             runTable,
	"writes":            runWrites,
	"dynamic":           runDynamic,
	"formats":           runFormats,
	"increment":         runIncrement,
	"scale":             runScale,
	"operator":          runOperator,
	"sites":             runSites,
	"teams":             runTeams,
	"headers":           runHeaders,
	"kinds":             runKinds,
	"workspace":         runWorkspace,
	"webhook":           runWebhook,
}

// session is what every command works with.
type session struct {
	*output
	*input
	config    *rest.Config
	resource  schema.GroupVersionResource
	namespace string
	labels    string
	fields    string
	// shard is the shard selector of an informer, unless it is empty.
	shard string
	// from is the resource version to start at.
	from string
	// as is the form in which objects are asked for: typed, unstructured or metadata.
	as string
	// accept is the Accept header, unless it is empty.
	accept string
	// limit is the size of a page.
	limit int64
	// pause waits for a line on stdin after every page.
	pause bool
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("usage: clients COMMAND [flags]; commands: %v", slices.Sorted(maps.Keys(commands)))
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := parse(args)
	if err != nil {
		return err
	}
	s.input = readInput(os.Stdin, cancel)
	takeLogs(s.output)
	if err := commands[args[0]](ctx, s); err != nil && ctx.Err() == nil {
		return err
	}
	s.emit("done", nil)
	return nil
}

func parse(args []string) (*session, error) {
	s := &session{output: newOutput(os.Stdout)}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "")
	resource := flags.String("resource", "quotes.v1.example.dev", "resource.version.group")
	flags.StringVar(&s.namespace, "namespace", "", "")
	flags.StringVar(&s.labels, "labels", "", "label selector")
	flags.StringVar(&s.fields, "fields", "", "field selector")
	flags.StringVar(&s.shard, "shard", "", "shard selector of an informer")
	flags.StringVar(&s.from, "from", "", "resource version to start at")
	flags.StringVar(&s.as, "as", "typed", "typed, unstructured or metadata")
	flags.StringVar(&s.accept, "accept", "", "media types to accept instead of the client's")
	flags.Int64Var(&s.limit, "limit", 0, "objects on a page")
	flags.BoolVar(&s.pause, "pause", false, "wait for a line after every page")
	if err := flags.Parse(args[1:]); err != nil {
		return nil, err
	}
	gvr, _ := schema.ParseResourceArg(*resource)
	if gvr == nil {
		return nil, fmt.Errorf("-resource %q is not resource.version.group", *resource)
	}
	s.resource = *gvr
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return nil, err
	}
	config.Wrap(s.observe)
	s.config = config
	return s, nil
}
