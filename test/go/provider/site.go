package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Site is what the export has: what others want published.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              SiteSpec   `json:"spec"`
	Status            SiteStatus `json:"status,omitempty"`
}

// SiteSpec is what its page says.
type SiteSpec struct {
	Title string `json:"title"`
}

// SiteStatus is where its page is: in a ConfigMap, which the export claims.
type SiteStatus struct {
	Page       string             `json:"page,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SiteList is a list of them.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Site `json:"items"`
}

func (s *Site) deepCopy() *Site {
	copied := *s
	s.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &copied
}

// DeepCopyObject is asked for by caches.
func (s *Site) DeepCopyObject() runtime.Object { return s.deepCopy() }

// DeepCopyObject is asked for by caches.
func (l *SiteList) DeepCopyObject() runtime.Object {
	copied := &SiteList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].deepCopy())
	}
	return copied
}

var siteVersion = schema.GroupVersion{Group: "example.dev", Version: "v1"}

func addMeta(scheme *runtime.Scheme) { metav1.AddToGroupVersion(scheme, siteVersion) }
