package main

import (
	"fmt"
	"net/http"
	"slices"

	core "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The pods that there are. Of those that do not run, nodes have nothing.
const (
	running    = "running"
	unassigned = "unassigned" // no node has it yet: its streams are 400
	gone       = "gone"       // deleted since it was read: its streams are 404
	unreached  = "unreached"  // on a node that nobody reaches: its streams are 500
)

var pods = map[string]*core.Pod{running: pod(running), unassigned: pod(unassigned), gone: pod(gone), unreached: pod(unreached)}

func pod(name string) *core.Pod {
	ports := []core.ContainerPort{{ContainerPort: echoPort}, {ContainerPort: sumPort}}
	return &core.Pod{
		TypeMeta:   meta.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), ResourceVersion: "1"},
		Spec:       core.PodSpec{Containers: []core.Container{{Name: "main", Image: "test", Stdin: true, TTY: false, Ports: ports}}},
		Status:     core.PodStatus{Phase: core.PodRunning},
	}
}

func listed() core.PodList {
	list := core.PodList{TypeMeta: meta.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: meta.ListMeta{ResourceVersion: "1"}}
	for _, one := range pods {
		list.Items = append(list.Items, *one)
	}
	slices.SortFunc(list.Items, func(a, b core.Pod) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return list
}

var discovered = meta.APIResourceList{
	TypeMeta:     meta.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
	GroupVersion: "v1",
	APIResources: []meta.APIResource{
		{Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", ShortNames: []string{"po"}, Verbs: meta.Verbs{"get", "list"}},
		{Name: "pods/attach", Namespaced: true, Kind: "PodAttachOptions", Verbs: meta.Verbs{"create", "get"}},
		{Name: "pods/exec", Namespaced: true, Kind: "PodExecOptions", Verbs: meta.Verbs{"create", "get"}},
		{Name: "pods/log", Namespaced: true, Kind: "Pod", Verbs: meta.Verbs{"get"}},
		{Name: "pods/portforward", Namespaced: true, Kind: "PodPortForwardOptions", Verbs: meta.Verbs{"create", "get"}},
	},
}

// nowhere is where nobody listens: the discard port, which loopback interfaces have closed.
const nowhere = "http://127.0.0.1:9/exec/none"

// onNode asks the node of a pod where its streams are.
func onNode(pod *core.Pod, ask func() (string, error)) (string, error) {
	switch pod.Name {
	case unassigned:
		return "", kerrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
	case gone:
		return "", kerrors.NewNotFound(core.Resource("pods"), pod.Name)
	case unreached:
		return nowhere, nil
	}
	place, err := ask()
	if err != nil {
		return "", kerrors.NewBadRequest(err.Error())
	}
	return place, nil
}

func wanted(req *http.Request, pod *core.Pod) asked {
	query := req.URL.Query()
	is := func(name string) bool { return query.Get(name) == "true" || query.Get(name) == "1" }
	return asked{
		container: pod.Name + "/" + query.Get("container"), command: query["command"],
		stdin: is("stdin"), stdout: is("stdout"), stderr: is("stderr"), tty: is("tty"),
	}
}

func (c *cluster) exec(req *http.Request, pod *core.Pod) (http.Handler, error) {
	a := wanted(req, pod)
	if len(a.command) == 0 {
		return nil, kerrors.NewBadRequest("you must specify at least 1 command for the container")
	}
	place, err := onNode(pod, func() (string, error) { return c.node.exec(a) })
	if err != nil {
		return nil, err
	}
	return c.toNode(place, asCommand(a))
}

func (c *cluster) attach(req *http.Request, pod *core.Pod) (http.Handler, error) {
	a := wanted(req, pod)
	place, err := onNode(pod, func() (string, error) { return c.node.attach(a) })
	if err != nil {
		return nil, err
	}
	return c.toNode(place, asCommand(a))
}

func (c *cluster) portForward(_ *http.Request, pod *core.Pod) (http.Handler, error) {
	place, err := onNode(pod, func() (string, error) { return c.node.portForward(pod.Name) })
	if err != nil {
		return nil, err
	}
	return c.toNode(place, asTunnel)
}
