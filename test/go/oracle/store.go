package main

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
)

// startStore starts an etcd of one member on free ports. It forgets nothing, and nothing is flushed: it does not outlive us.
func startStore(folder string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "etcd")
	config.LogLevel = "panic"
	config.UnsafeNoFsync = true
	config.WatchProgressNotifyInterval = 5 * time.Second // as kube-apiserver's users are told to set it
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	store, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-store.Server.ReadyNotify():
		return store, nil
	case <-time.After(time.Minute):
		store.Close()
		return nil, errors.New("etcd did not get ready within a minute")
	}
}

func storeURL(store *embed.Etcd) string {
	return "http://" + store.Clients[0].Addr().String()
}

// compact makes the store forget everything that was before now, and gives the revision that is now.
func compact(ctx context.Context, store *embed.Etcd) (int64, error) {
	revision := store.Server.KV().Rev()
	_, err := store.Server.Compact(ctx, &pb.CompactionRequest{Revision: revision, Physical: true})
	return revision, err
}
