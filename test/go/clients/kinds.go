package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// typed is what client-go's typed client of one kind can do.
type typed[T client.Object, L runtime.Object] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Get(context.Context, string, metav1.GetOptions) (T, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
}

var (
	now   = time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	micro = metav1.NewMicroTime(now)
	no    = false
	nine  = int32(9)
	zero  = int32(0)
	day   = int32(86400)
	me    = "me"
)

func named(name string) metav1.ObjectMeta {
	controller := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u", Controller: &no}
	return metav1.ObjectMeta{
		Name:            name,
		Labels:          map[string]string{"a": "b", "empty": ""},
		Annotations:     map[string]string{"note": "größe"},
		OwnerReferences: []metav1.OwnerReference{controller},
		Finalizers:      []string{"example.dev/hold"},
	}
}

// runKinds does everything with every kind, as client-go does by default: in protobuf.
func runKinds(ctx context.Context, s *session) error {
	sent := &mediaTypes{seen: map[string]int{}}
	s.config.Wrap(func(next http.RoundTripper) http.RoundTripper { sent.next = next; return sent })
	defer func() { s.emit("sent", fields{"types": sent.seen}) }()
	c, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return err
	}
	core, rbac := c.CoreV1(), c.RbacV1()
	reference := corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p", FieldPath: "spec"}
	quantity := corev1.ResourceList{"requests.cpu": resource.MustParse("500m"), "count/widgets.example.dev": resource.MustParse("0")}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	subjects := []rbacv1.Subject{{Kind: "User", Name: "u"}, {Kind: "ServiceAccount", Name: "sa", Namespace: "default"}}
	role := rbacv1.RoleRef{Kind: "ClusterRole", Name: "system:x"}

	every(ctx, s, "Namespace", core.Namespaces(), &corev1.Namespace{ObjectMeta: named("made")})
	every(ctx, s, "ConfigMap", core.ConfigMaps("default"), &corev1.ConfigMap{
		ObjectMeta: named("made"), Immutable: &no,
		Data: map[string]string{"k": "v", "none": ""}, BinaryData: map[string][]byte{"b": {0, 255, 1}, "none2": {}},
	})
	every(ctx, s, "Secret", core.Secrets("default"), &corev1.Secret{
		ObjectMeta: named("made"), Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{"username": {1, 2, 3}},
	})
	every(ctx, s, "ServiceAccount", core.ServiceAccounts("default"), &corev1.ServiceAccount{
		ObjectMeta: named("made"), AutomountServiceAccountToken: &no,
		Secrets: []corev1.ObjectReference{{Name: "s"}}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "i"}},
	})
	every(ctx, s, "ResourceQuota", core.ResourceQuotas("default"), &corev1.ResourceQuota{
		ObjectMeta: named("made"), Spec: corev1.ResourceQuotaSpec{Hard: quantity, Scopes: []corev1.ResourceQuotaScope{"Terminating"}},
	})
	every(ctx, s, "Event", core.Events("default"), &corev1.Event{
		ObjectMeta: named("made"), InvolvedObject: reference, Reason: "Made", Message: "m", Count: 3, Type: "Normal",
		FirstTimestamp: metav1.NewTime(now.Truncate(time.Second)), Source: corev1.EventSource{Component: "c"},
	})
	every(ctx, s, "events.k8s.io Event", c.EventsV1().Events("default"), &eventsv1.Event{
		ObjectMeta: named("other"), Regarding: reference, Reason: "Made", Note: "n", Type: "Warning", EventTime: micro, Action: "Do",
		ReportingController: "example.dev/c", ReportingInstance: "i", Series: &eventsv1.EventSeries{Count: 2, LastObservedTime: micro},
	})
	every(ctx, s, "CertificateSigningRequest", c.CertificatesV1().CertificateSigningRequests(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: named("made"),
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: certificateRequest(), SignerName: "example.com/serving", ExpirationSeconds: &day,
			Usages:   []certificatesv1.KeyUsage{certificatesv1.UsageServerAuth, certificatesv1.UsageDigitalSignature},
			Username: "u", UID: "1", Groups: []string{"g", "h"}, Extra: map[string]certificatesv1.ExtraValue{"k": {"v", "w"}},
		},
	})
	every(ctx, s, "Lease", c.CoordinationV1().Leases("default"), &coordinationv1.Lease{
		ObjectMeta: named("made"),
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &me, LeaseDurationSeconds: &nine, AcquireTime: &micro, RenewTime: &micro, LeaseTransitions: &zero},
	})
	every(ctx, s, "Role", rbac.Roles("default"), &rbacv1.Role{ObjectMeta: named("system:made"), Rules: rules})
	every(ctx, s, "RoleBinding", rbac.RoleBindings("default"), &rbacv1.RoleBinding{ObjectMeta: named("made"), Subjects: subjects, RoleRef: role})
	every(ctx, s, "ClusterRole", rbac.ClusterRoles(), &rbacv1.ClusterRole{
		ObjectMeta: named("system:made"), Rules: rules,
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}},
	})
	every(ctx, s, "ClusterRoleBinding", rbac.ClusterRoleBindings(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: named("made"), Subjects: subjects, RoleRef: role,
	})
	extensions, err := apiextensions.NewForConfig(s.config)
	if err != nil {
		return err
	}
	every(ctx, s, "CustomResourceDefinition", extensions.ApiextensionsV1().CustomResourceDefinitions(), widgets())
	return s.steps(ctx, []step{
		{"Secret stringData", func(ctx context.Context) (fields, error) {
			made, err := core.Secrets("default").Create(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: "plain"}, StringData: map[string]string{"k": "v"},
			}, metav1.CreateOptions{})
			return fields{"data": string(made.Data["k"]), "type": made.Type, "plain": len(made.StringData)}, err
		}},
		{"ConfigMap apply", func(ctx context.Context) (fields, error) {
			wanted := coreapply.ConfigMap("applied", "default").WithData(map[string]string{"k": "v"})
			made, err := core.ConfigMaps("default").Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "me"})
			return fields{"data": made.Data["k"], "owner": made.ManagedFields[0].Manager}, err
		}},
		{"Update without a version", func(ctx context.Context) (fields, error) {
			next := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "applied"}, Data: map[string]string{"k": "w"}}
			made, err := core.ConfigMaps("default").Update(ctx, next, metav1.UpdateOptions{})
			return fields{"data": made.Data["k"]}, err
		}},
		{"Update that creates", func(ctx context.Context) (fields, error) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "created"}}
			made, err := c.CoordinationV1().Leases("default").Update(ctx, lease, metav1.UpdateOptions{})
			return fields{"uid": made.UID != ""}, err
		}},
		{"Delete with a wrong uid", func(ctx context.Context) (fields, error) {
			return nil, core.ConfigMaps("default").Delete(ctx, "applied", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrongUID}})
		}},
		{"Delete dry", func(ctx context.Context) (fields, error) {
			if err := core.ConfigMaps("default").Delete(ctx, "applied", metav1.DeleteOptions{DryRun: []string{"All"}}); err != nil {
				return nil, err
			}
			_, err := core.ConfigMaps("default").Get(ctx, "applied", metav1.GetOptions{})
			return nil, err
		}},
		{"Finalize", func(ctx context.Context) (fields, error) {
			ns, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "gen-"}}, metav1.CreateOptions{})
			if err != nil {
				return nil, err
			}
			if err := core.Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
				return nil, err
			}
			held, err := core.Namespaces().Get(ctx, ns.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			told := fields{"phase": held.Status.Phase, "label": held.Labels["kubernetes.io/metadata.name"] == ns.Name}
			held.Spec.Finalizers = nil
			if _, err := core.Namespaces().Finalize(ctx, held, metav1.UpdateOptions{}); err != nil {
				return told, err
			}
			_, err = core.Namespaces().Get(ctx, ns.Name, metav1.GetOptions{})
			return told, err
		}},
		{"controller-runtime", func(ctx context.Context) (fields, error) {
			other, err := client.New(s.config, client.Options{})
			if err != nil {
				return nil, err
			}
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cr"}, Data: map[string]string{"k": "v"}}
			if err := other.Create(ctx, made); err != nil {
				return nil, err
			}
			before := made.DeepCopy()
			made.Data["k"] = "w"
			if err := other.Patch(ctx, made, client.StrategicMergeFrom(before)); err != nil {
				return nil, err
			}
			return fields{"data": made.Data["k"]}, other.Delete(ctx, made)
		}},
		{"leader election", func(ctx context.Context) (fields, error) { return fields{}, lead(ctx, c) }},
	})
}

// certificateRequest makes a request as kubelets do.
func certificateRequest() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "größe", Organization: []string{"team"}}, DNSNames: []string{"a.example"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// widgets is a definition with a schema of every form.
func widgets() *apiextensionsv1.CustomResourceDefinition {
	type props = apiextensionsv1.JSONSchemaProps
	json := func(text string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(text)} }
	half, none, set := 0.5, int64(0), "set"
	spec := props{Type: "object", Required: []string{"a"}, Properties: map[string]props{
		"a": {Type: "string", Default: json(`"x"`), Enum: []apiextensionsv1.JSON{*json(`"x"`), *json(`null`)}, MinLength: &none, Nullable: true},
		"b": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{Type: "integer", Format: "int64"}}, XListType: &set},
		"c": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &props{Type: "number", Minimum: &half}}},
		"d": {Type: "object", XPreserveUnknownFields: &no, Default: json(`{"x":[1,2.5,{"y":null}]}`)},
		"e": {XIntOrString: true, AnyOf: []props{{Type: "integer"}, {Not: &props{Pattern: "^a"}}}},
	}, XValidations: apiextensionsv1.ValidationRules{{Rule: "self.a != 'b'", Message: "no", OptionalOldSelf: &no}}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: named("widgets.example.dev"),
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.dev", Scope: "Namespaced",
			Names:      apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget", ShortNames: []string{"w"}},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: "None"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &props{Type: "object", Properties: map[string]props{"spec": spec}}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.r", StatusReplicasPath: ".status.r"},
				},
				AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "A", Type: "string", JSONPath: ".spec.a"}},
				SelectableFields:         []apiextensionsv1.SelectableField{{JSONPath: ".spec.a"}},
			}},
		},
	}
}

// mediaTypes counts what objects are sent as, and where.
type mediaTypes struct {
	next http.RoundTripper
	lock sync.Mutex
	seen map[string]int
}

// RoundTrip hands a request on.
func (m *mediaTypes) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost || request.Method == http.MethodPut {
		m.lock.Lock()
		m.seen[request.Header.Get("Content-Type")+" "+request.URL.Path]++
		m.lock.Unlock()
	}
	return m.next.RoundTrip(request)
}

// every makes, reads, changes, watches and deletes an object, and tells whether it came back as it was sent.
func every[T client.Object, L runtime.Object](ctx context.Context, s *session, kind string, c typed[T, L], wanted T) {
	run := func(ctx context.Context) (fields, error) {
		sent := wanted.DeepCopyObject().(T)
		made, err := c.Create(ctx, wanted, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("create: %w", err)
		}
		name := made.GetName()
		told := fields{"generation": made.GetGeneration(), "same": ""}
		if difference := differs(sent, made); difference != "" {
			told["same"] = difference
		}
		list, err := c.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			return told, fmt.Errorf("list: %w", err)
		}
		told["listed"] = reflect.ValueOf(list).Elem().FieldByName("Items").Len()
		watching, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: made.GetResourceVersion()})
		if err != nil {
			return told, fmt.Errorf("watch: %w", err)
		}
		defer watching.Stop()
		made.SetLabels(map[string]string{"changed": "yes"})
		if made, err = c.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
			return told, fmt.Errorf("update: %w", err)
		}
		patch := []byte(`{"metadata":{"labels":{"patched":"yes"},"finalizers":null}}`)
		if made, err = c.Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return told, fmt.Errorf("patch: %w", err)
		}
		told["labels"] = made.GetLabels()
		if err := c.Delete(ctx, name, *metav1.NewDeleteOptions(0)); err != nil {
			return told, fmt.Errorf("delete: %w", err)
		}
		seen := []string{}
		for len(seen) < 3 {
			event := <-watching.ResultChan()
			seen = append(seen, string(event.Type))
		}
		told["seen"] = seen
		return told, nil
	}
	_ = s.steps(ctx, []step{{kind, run}})
}

// differs tells what of an object is not as it was sent, but for what a server fills in.
func differs(sent, made client.Object) string {
	got := made.DeepCopyObject().(client.Object)
	got.SetUID("")
	got.SetGeneration(0)
	got.SetResourceVersion("")
	got.SetNamespace("")
	got.SetCreationTimestamp(metav1.Time{})
	got.SetManagedFields(nil)
	annotations := got.GetAnnotations()
	delete(annotations, "kcp.io/cluster")
	sent.SetNamespace("")
	if labels := got.GetLabels(); labels["kubernetes.io/metadata.name"] != "" {
		delete(labels, "kubernetes.io/metadata.name")
	}
	switch o := got.(type) {
	case *corev1.Namespace:
		o.Spec, o.Status = corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
	case *rbacv1.RoleBinding:
		o.RoleRef.APIGroup, o.Subjects[0].APIGroup = "", ""
	case *rbacv1.ClusterRoleBinding:
		o.RoleRef.APIGroup, o.Subjects[0].APIGroup = "", ""
	}
	a, b := asJSON(sent), asJSON(got)
	if a == b {
		return ""
	}
	return fmt.Sprintf("sent %s, got %s", a, b)
}

func asJSON(object runtime.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err.Error()
	}
	delete(content, "apiVersion")
	delete(content, "kind")
	return fmt.Sprint(content)
}

// lead takes a lease from one that lets it go.
func lead(ctx context.Context, c kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, identity := range []string{"first", "second"} {
		turn, done := context.WithCancel(ctx)
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "leader"},
			Client:     c.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}
		led := false
		leaderelection.RunOrDie(turn, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { led = true; done() },
				OnStoppedLeading: func() {},
			},
		})
		done()
		if !led {
			return fmt.Errorf("%s never led", identity)
		}
	}
	return nil
}
