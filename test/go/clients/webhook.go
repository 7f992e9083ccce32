package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// mapWebhook is a webhook of controller-runtime, as authors of operators write it: it sets a default, and rejects and warns.
type mapWebhook struct{ *session }

func (m mapWebhook) Default(ctx context.Context, object *corev1.ConfigMap) error {
	if object.Data["color"] != "" {
		return nil
	}
	if object.Data == nil {
		object.Data = map[string]string{}
	}
	object.Data["color"] = "red"
	return nil
}

func (m mapWebhook) ValidateCreate(ctx context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	return m.validate(ctx, object)
}

func (m mapWebhook) ValidateUpdate(ctx context.Context, old, object *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Data["color"] != object.Data["color"] {
		return nil, fmt.Errorf("data.color: %s must stay", old.Data["color"])
	}
	return m.validate(ctx, object)
}

func (m mapWebhook) ValidateDelete(ctx context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	if object.Labels["keep"] != "" {
		return nil, fmt.Errorf("%s is kept", object.Name)
	}
	return nil, nil
}

func (m mapWebhook) validate(ctx context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, err
	}
	m.emit("validated", fields{
		"name": object.Name, "user": request.UserInfo.Username, "cluster": object.Annotations["kcp.io/cluster"],
		"operation": request.Operation, "dryRun": request.DryRun != nil && *request.DryRun,
	})
	if object.Data["color"] == "blue" {
		return admission.Warnings{"blue is rare"}, nil
	}
	if object.Data["color"] == "black" {
		return nil, fmt.Errorf("data.color: black is not in stock")
	}
	return nil, nil
}

// runWebhook serves the webhooks at /default and /validate until the end of stdin.
func runWebhook(ctx context.Context, s *session) error {
	certificate, ca, err := ownCertificate()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for path, hook := range map[string]*admission.Webhook{
		"/default":  admission.WithDefaulter[*corev1.ConfigMap](scheme.Scheme, mapWebhook{s}),
		"/validate": admission.WithValidator[*corev1.ConfigMap](scheme.Scheme, mapWebhook{s}),
	} {
		handler, err := admission.StandaloneWebhook(hook, admission.StandaloneOptions{})
		if err != nil {
			return err
		}
		mux.Handle(path, handler)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	s.emit("serving", fields{"url": "https://" + listener.Addr().String(), "ca": ca})
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// ownCertificate returns a certificate for 127.0.0.1 that signs itself, and its PEM.
func ownCertificate() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(ca), nil
}
