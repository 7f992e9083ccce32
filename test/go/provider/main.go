// Provider runs a controller over the workspaces that have bound an export, made of kcp's multicluster provider and
// multicluster-runtime as they are released. It tells on stdout, a JSON object a line, what it sees. Tests drive it: a line on
// stdin is a question, the end of stdin ends it.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"

	apisv1alpha1 "github.com/kcp-dev/sdk/apis/apis/v1alpha1"
)

const (
	// How long a leader may be without the server, which is killed and started again meanwhile.
	leaseDuration = 90 * time.Second
	renewDeadline = 60 * time.Second
	retryPeriod   = time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	flags := flag.NewFlagSet("provider", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "leads to the workspace of the export")
	slice := flags.String("endpointslice", "sites", "APIExportEndpointSlice to follow")
	paths := flags.Bool("paths", false, "know clusters by their paths too: kcp's path-aware provider")
	_ = flags.Parse(os.Args[1:])

	out := newOutput(os.Stdout)
	takeLogs(out)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	scheme := newScheme()
	fleet, err := newFleet(config, *slice, scheme, *paths)
	if err != nil {
		return err
	}
	deadline, duration, period := renewDeadline, leaseDuration, retryPeriod
	mgr, err := mcmanager.New(config, fleet, mcmanager.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              *slice,
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &duration,
		RenewDeadline:                 &deadline,
		RetryPeriod:                   &period,
	})
	if err != nil {
		return err
	}
	if err := mgr.Add(&witness{out: out}); err != nil {
		return err
	}
	if err := (&publisher{mgr: mgr, out: out}).setUp(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctrl.SetupSignalHandler())
	defer cancel()
	go func() {
		defer cancel()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			answer(ctx, lines.Text(), fleet, out)
		}
	}()
	go func() {
		select {
		case <-mgr.Elected():
			out.emit("elected", nil)
		case <-ctx.Done():
		}
	}()
	return mgr.Start(ctx)
}

func newScheme() *runtime.Scheme {
	all := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(all))
	utilruntime.Must(apisv1alpha1.AddToScheme(all))
	all.AddKnownTypes(siteVersion, &Site{}, &SiteList{})
	addMeta(all)
	return all
}
