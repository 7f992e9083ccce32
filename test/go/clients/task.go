package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Task is the kind that clients write; the server's schema says the same.
type Task struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              TaskSpec   `json:"spec"`
	Status            TaskStatus `json:"status,omitempty"`
}

// TaskSpec is what is to be done, in how many steps, and a count that many writers share.
type TaskSpec struct {
	Title string `json:"title"`
	Steps int32  `json:"steps,omitempty"`
	Count int64  `json:"count,omitempty"`
}

// TaskStatus is how far it has got.
type TaskStatus struct {
	Phase      string             `json:"phase,omitempty"`
	Done       int32              `json:"done,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TaskList is a list of them.
type TaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Task `json:"items"`
}

func (t *Task) deepCopy() *Task {
	copied := *t
	t.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), t.Status.Conditions...)
	return &copied
}

// DeepCopyObject is asked for by informers and caches.
func (t *Task) DeepCopyObject() runtime.Object { return t.deepCopy() }

// DeepCopyObject is asked for by informers and caches.
func (l *TaskList) DeepCopyObject() runtime.Object {
	copied := &TaskList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].deepCopy())
	}
	return copied
}

var (
	taskResource = schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "tasks"}
	taskKind     = taskResource.GroupVersion().WithKind("Task")
)

func newTask(name, title string) *Task {
	return &Task{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: TaskSpec{Title: title}}
}
