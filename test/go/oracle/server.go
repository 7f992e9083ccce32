package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/util/wait"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// nobody is the kubeconfig of the cluster that authentication, authorization and admission would ask: nothing does.
const nobody = `{"apiVersion": "v1", "kind": "Config", "current-context": "nobody",
"clusters": [{"name": "nobody", "cluster": {"server": "http://127.0.0.1:1"}}], "users": [{"name": "nobody"}],
"contexts": [{"name": "nobody", "context": {"cluster": "nobody", "user": "nobody"}}]}`

// withoutCluster turns off the admission that needs a cluster of namespaces, webhooks and policies.
var withoutCluster = []string{
	"NamespaceLifecycle", "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook",
	"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy",
}

type served struct {
	ready
	api   *api
	ended chan error // closed when it has ended
}

// withShards turns on the alpha shard selectors, which ours has too.
func withShards() error {
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.ShardedListAndWatch): true})
}

func startServer(ctx context.Context, place place, store string) (*served, error) {
	if err := withShards(); err != nil {
		return nil, err
	}
	config, err := configure(place, store)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	server, err := config.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	own := server.GenericAPIServer.LoopbackClientConfig
	client, err := apiOf(own)
	if err != nil {
		return nil, err
	}
	shown, err := os.ReadFile(filepath.Join(place.folder, "apiserver.crt"))
	if err != nil {
		return nil, err
	}
	tls := own.TLSClientConfig
	started := &served{
		ready: ready{URL: own.Host, Token: own.BearerToken, CA: string(tls.CAData), Name: tls.ServerName, Own: string(shown)},
		api:   client,
		ended: make(chan error, 1),
	}
	go func() {
		defer close(started.ended)
		started.ended <- server.GenericAPIServer.PrepareRun().RunWithContext(ctx)
	}()
	return started, eventually(ctx, func() error {
		_, err := client.call(ctx, http.MethodGet, "/healthz", nil)
		return err
	})
}

// eventually calls again and again until there is no error.
func eventually(ctx context.Context, call func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		last = call()
		return last == nil, nil
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", err, last)
}

func configure(place place, store string) (*apiserver.Config, error) {
	kubeconfig := filepath.Join(place.folder, "nobody.kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(nobody), 0o600); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", place.port))
	if err != nil {
		return nil, err
	}
	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	recommended := o.RecommendedOptions
	recommended.SecureServing.Listener = listener
	recommended.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	recommended.SecureServing.ServerCert.CertDirectory = place.folder
	recommended.Etcd.StorageConfig.Transport.ServerList = []string{store}
	recommended.Etcd.StorageConfig.CompactionInterval = 0 // a compaction is a write, which lists would show
	recommended.Authentication.SkipInClusterLookup = true
	recommended.Authentication.RemoteKubeConfigFile = kubeconfig
	recommended.Authentication.ClientCert.ClientCA = place.clientCA
	recommended.Authorization.RemoteKubeConfigFile = kubeconfig
	recommended.CoreAPI.CoreAPIKubeconfigPath = kubeconfig
	recommended.Features.EnablePriorityAndFairness = false
	recommended.Admission.DisablePlugins = withoutCluster
	if err := o.Complete(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.GenericConfig.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	return config, nil
}
