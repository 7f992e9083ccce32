// A member of etcd, the real one, as a program: the flags are those of etcd itself, with its names, as far as tests need
// them. It prints one line once it serves, and ends with SIGTERM, or at once with SIGKILL, as a crash does.
package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config, err := configured()
	if err != nil {
		return err
	}
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer etcd.Close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	ready := etcd.Server.ReadyNotify()
	for {
		select {
		case <-ready:
			ready = nil
			fmt.Println("ready")
		case err := <-etcd.Err():
			return err
		case <-signals:
			return nil
		}
	}
}

func configured() (*embed.Config, error) {
	config := embed.NewConfig()
	config.LogOutputs = []string{"stderr"}
	config.Logger = "zap"
	flag.StringVar(&config.Name, "name", config.Name, "")
	flag.StringVar(&config.Dir, "data-dir", "", "")
	flag.StringVar(&config.LogLevel, "log-level", "error", "")
	flag.StringVar(&config.AuthToken, "auth-token", config.AuthToken, "")
	flag.UintVar(&config.AuthTokenTTL, "auth-token-ttl", config.AuthTokenTTL, "seconds")
	flag.Int64Var(&config.QuotaBackendBytes, "quota-backend-bytes", 0, "")
	flag.UintVar(&config.MaxRequestBytes, "max-request-bytes", config.MaxRequestBytes, "")
	flag.UintVar(&config.TickMs, "heartbeat-interval", config.TickMs, "milliseconds")
	flag.UintVar(&config.ElectionMs, "election-timeout", config.ElectionMs, "milliseconds")
	flag.Uint64Var(&config.SnapshotCount, "snapshot-count", config.SnapshotCount, "")
	flag.StringVar(&config.InitialCluster, "initial-cluster", "", "")
	flag.StringVar(&config.InitialClusterToken, "initial-cluster-token", config.InitialClusterToken, "")
	security := &config.ClientTLSInfo
	flag.StringVar(&security.CertFile, "cert-file", "", "")
	flag.StringVar(&security.KeyFile, "key-file", "", "")
	flag.StringVar(&security.TrustedCAFile, "trusted-ca-file", "", "")
	flag.BoolVar(&security.ClientCertAuth, "client-cert-auth", false, "")
	listenClients := urls("listen-client-urls", &config.ListenClientUrls)
	_ = urls("advertise-client-urls", &config.AdvertiseClientUrls)
	_ = urls("listen-peer-urls", &config.ListenPeerUrls)
	_ = urls("initial-advertise-peer-urls", &config.AdvertisePeerUrls)
	flag.Parse()
	if flag.NArg() > 0 || *listenClients == "" {
		return nil, fmt.Errorf("usage: etcd --data-dir <folder> --listen-client-urls <urls> ..., flags only")
	}
	if config.InitialCluster == "" {
		config.InitialCluster = config.InitialClusterFromName(config.Name)
	}
	return config, nil
}

// urls declares a flag of URLs, separated by commas.
func urls(name string, into *[]url.URL) *string {
	given := new(string)
	flag.Func(name, "", func(text string) error {
		*given = text
		*into = nil
		for _, part := range strings.Split(text, ",") {
			parsed, err := url.Parse(part)
			if err != nil {
				return err
			}
			*into = append(*into, *parsed)
		}
		return nil
	})
	return given
}
