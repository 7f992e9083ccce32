package main

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

var wrongUID = types.UID("00000000-0000-4000-8000-000000000000")

const finalizer = "example.dev/clients"

// runWrites does what operators do with the client of controller-runtime.
func runWrites(ctx context.Context, s *session) error {
	c, err := client.New(s.config, client.Options{Scheme: newScheme()})
	if err != nil {
		return err
	}
	w := &writer{c}
	return s.steps(ctx, []step{
		{"CreateOrUpdate creates", w.createOrUpdate("first")},
		{"CreateOrUpdate leaves", w.createOrUpdate("first")},
		{"CreateOrUpdate updates", w.createOrUpdate("second")},
		{"CreateOrPatch leaves", w.createOrPatch("second", "")},
		{"CreateOrPatch patches object and status", w.createOrPatch("third", "Started")},
		{"Create again", func(ctx context.Context) (fields, error) { return nil, c.Create(ctx, newTask("task", "again")) }},
		{"Update from an old version", w.updateOld},
		{"Status().Update", w.statusUpdate},
		{"Status().Patch", w.statusPatch},
		{"Update leaves status", w.updateLeavesStatus},
		{"Patch with optimistic lock", w.lockedPatch(false)},
		{"Patch with an old optimistic lock", w.lockedPatch(true)},
		{"Patch with a strategic merge", w.strategicPatch},
		{"Apply", w.apply("one", "applied", false)},
		{"Apply the same", w.apply("one", "applied", false)},
		{"Apply against another", w.apply("two", "other", false)},
		{"Apply with ForceOwnership", w.apply("two", "other", true)},
		{"Patch(Apply) against another", w.patchApply},
		{"Status().Apply", w.statusApply},
		{"AddFinalizer", w.addFinalizer},
		{"Delete what a finalizer holds", w.deleteHeld},
		{"RemoveFinalizer", w.removeFinalizer},
		{"Delete with a wrong uid", w.deletePrecondition},
		{"Dry run", w.dryRun},
		{"DeleteAllOf", w.deleteAllOf},
	})
}

type writer struct{ client.Client }

// read gives the task as it is, under a name.
func (w *writer) read(ctx context.Context, name string) (*Task, error) {
	task := newTask(name, "")
	return task, w.Get(ctx, client.ObjectKeyFromObject(task), task)
}

func taskFields(task *Task) fields {
	return fields{
		"title": task.Spec.Title, "phase": task.Status.Phase, "generation": task.Generation,
		"finalizers": len(task.Finalizers), "deleting": task.DeletionTimestamp != nil,
	}
}

func (w *writer) createOrUpdate(title string) func(context.Context) (fields, error) {
	return func(ctx context.Context) (fields, error) {
		task := newTask("task", "")
		result, err := controllerutil.CreateOrUpdate(ctx, w, task, func() error {
			task.Spec.Title = title
			return nil
		})
		told := taskFields(task)
		told["result"] = result
		return told, err
	}
}

func (w *writer) createOrPatch(title, phase string) func(context.Context) (fields, error) {
	return func(ctx context.Context) (fields, error) {
		task := newTask("task", "")
		result, err := controllerutil.CreateOrPatch(ctx, w, task, func() error {
			task.Spec.Title = title
			task.Status.Phase = phase
			return nil
		})
		told := taskFields(task)
		told["result"] = result
		return told, err
	}
}

func (w *writer) updateOld(ctx context.Context) (fields, error) {
	old, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	now := old.deepCopy()
	now.Spec.Steps = 3
	if err := w.Update(ctx, now); err != nil {
		return nil, fmt.Errorf("update from the version as it was: %w", err)
	}
	old.Spec.Steps = 4
	return nil, w.Update(ctx, old)
}

func (w *writer) statusUpdate(ctx context.Context) (fields, error) {
	task, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	task.Spec.Title = "not through status"
	task.Status.Phase = "Done"
	meta.SetStatusCondition(&task.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Finished", Message: "all steps are done",
	})
	err = w.Status().Update(ctx, task)
	return taskFields(task), err
}

func (w *writer) statusPatch(ctx context.Context) (fields, error) {
	task, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	before := task.deepCopy()
	task.Status.Done = 7
	err = w.Status().Patch(ctx, task, client.MergeFrom(before))
	told := taskFields(task)
	told["done"] = task.Status.Done
	told["ready"] = meta.IsStatusConditionTrue(task.Status.Conditions, "Ready")
	return told, err
}

func (w *writer) updateLeavesStatus(ctx context.Context) (fields, error) {
	task, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	task.Status = TaskStatus{Phase: "Open"}
	err = w.Update(ctx, task)
	told := taskFields(task)
	told["done"] = task.Status.Done
	return told, err
}

func (w *writer) lockedPatch(old bool) func(context.Context) (fields, error) {
	return func(ctx context.Context) (fields, error) {
		task, err := w.read(ctx, "task")
		if err != nil {
			return nil, err
		}
		before := task.deepCopy()
		if old {
			other := task.deepCopy()
			other.Labels = map[string]string{"touched": "yes"}
			if err := w.Update(ctx, other); err != nil {
				return nil, err
			}
		}
		task.Spec.Title = "locked"
		err = w.Patch(ctx, task, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		return taskFields(task), err
	}
}

func (w *writer) strategicPatch(ctx context.Context) (fields, error) {
	task, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	before := task.deepCopy()
	task.Spec.Title = "strategic"
	return nil, w.Patch(ctx, task, client.StrategicMergeFrom(before))
}

func applied(name, title string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"title": title}}}
	object.SetGroupVersionKind(taskKind)
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

func (w *writer) apply(owner, title string, force bool) func(context.Context) (fields, error) {
	return func(ctx context.Context) (fields, error) {
		options := []client.ApplyOption{client.FieldOwner(owner)}
		if force {
			options = append(options, client.ForceOwnership)
		}
		object := applied("applied", title)
		err := w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...)
		found, _, _ := unstructured.NestedString(object.Object, "spec", "title")
		return fields{"title": found, "generation": object.GetGeneration(), "owners": owners(object)}, err
	}
}

func (w *writer) patchApply(ctx context.Context) (fields, error) {
	//nolint:staticcheck // operators still do it this way
	return nil, w.Patch(ctx, applied("applied", "one's again"), client.Apply, client.FieldOwner("one"))
}

func (w *writer) statusApply(ctx context.Context) (fields, error) {
	object := applied("applied", "")
	delete(object.Object, "spec")
	object.Object["status"] = map[string]any{"phase": "Started"}
	err := w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("reporter"))
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return fields{"phase": phase, "owners": owners(object)}, err
}

func owners(object metav1.Object) []string {
	owners := []string{}
	for _, entry := range object.GetManagedFields() {
		owners = append(owners, fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.Subresource))
	}
	slices.Sort(owners) // Kubernetes has them by their times, which are of whole seconds
	return owners
}

func (w *writer) addFinalizer(ctx context.Context) (fields, error) {
	task, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	added := controllerutil.AddFinalizer(task, finalizer)
	err = w.Update(ctx, task)
	told := taskFields(task)
	told["result"] = added
	return told, err
}

func (w *writer) deleteHeld(ctx context.Context) (fields, error) {
	if err := w.Delete(ctx, newTask("task", ""), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return nil, err
	}
	task, err := w.read(ctx, "task")
	return taskFields(task), err
}

func (w *writer) removeFinalizer(ctx context.Context) (fields, error) {
	task, err := w.read(ctx, "task")
	if err != nil {
		return nil, err
	}
	controllerutil.RemoveFinalizer(task, finalizer)
	if err := w.Update(ctx, task); err != nil {
		return nil, fmt.Errorf("update that takes the finalizer away: %w", err)
	}
	_, err = w.read(ctx, "task")
	return nil, err
}

func (w *writer) deletePrecondition(ctx context.Context) (fields, error) {
	wrong := client.Preconditions{UID: &wrongUID}
	return nil, w.Delete(ctx, newTask("applied", ""), wrong)
}

func (w *writer) dryRun(ctx context.Context) (fields, error) {
	dry := client.NewDryRunClient(w)
	task := newTask("dry", "never there")
	if err := dry.Create(ctx, task); err != nil {
		return nil, err
	}
	_, err := w.read(ctx, "dry")
	return fields{"uid": task.UID != ""}, err
}

func (w *writer) deleteAllOf(ctx context.Context) (fields, error) {
	for _, name := range []string{"a", "b", "c"} {
		task := newTask(name, name)
		if name != "c" {
			task.Labels = map[string]string{"batch": "yes"}
		}
		if err := w.Create(ctx, task); err != nil {
			return nil, err
		}
	}
	if err := w.DeleteAllOf(ctx, &Task{}, client.InNamespace("default"), client.MatchingLabels{"batch": "yes"}); err != nil {
		return nil, err
	}
	list := &TaskList{}
	err := w.List(ctx, list, client.InNamespace("default"))
	names := []string{}
	for _, task := range list.Items {
		names = append(names, task.Name)
	}
	return fields{"names": names}, err
}
