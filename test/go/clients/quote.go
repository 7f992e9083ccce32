package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Quote is the kind that typed clients know; the server's schema says the same.
type Quote struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              QuoteSpec `json:"spec"`
}

// QuoteSpec is what is said, and by whom.
type QuoteSpec struct {
	Text   string `json:"text"`
	Author string `json:"author,omitempty"`
}

// QuoteList is a list of them.
type QuoteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Quote `json:"items"`
}

func (q *Quote) deepCopy() *Quote {
	copied := *q
	q.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject is asked for by informers and caches.
func (q *Quote) DeepCopyObject() runtime.Object { return q.deepCopy() }

// DeepCopyObject is asked for by informers and caches.
func (l *QuoteList) DeepCopyObject() runtime.Object {
	copied := &QuoteList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].deepCopy())
	}
	return copied
}

var quoteVersion = schema.GroupVersion{Group: "example.dev", Version: "v1"}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(quoteVersion, &Quote{}, &QuoteList{}, &Task{}, &TaskList{})
	metav1.AddToGroupVersion(scheme, quoteVersion)
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	return scheme
}
