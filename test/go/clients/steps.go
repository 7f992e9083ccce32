package main

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// step is one thing that a client does, and what it tells of it.
type step struct {
	name string
	run  func(context.Context) (fields, error)
}

// steps runs steps in their order and tells how each ended: by its reason where the server refused it.
func (s *session) steps(ctx context.Context, steps []step) error {
	for _, one := range steps {
		told, err := one.run(ctx)
		if told == nil {
			told = fields{}
		}
		told["step"] = one.name
		if err != nil {
			told["reason"] = string(errors.ReasonForError(err))
			told["message"] = err.Error()
			if status, ok := err.(errors.APIStatus); ok && status.Status().Details != nil {
				causes := []string{}
				for _, cause := range status.Status().Details.Causes {
					causes = append(causes, fmt.Sprintf("%s %s", cause.Type, cause.Field))
				}
				told["causes"] = causes
			}
		}
		s.emit("step", told)
	}
	return nil
}

// warnings keeps what servers warn of, as kubectl and controllers show it.
type warnings struct {
	lock  sync.Mutex
	texts []string
}

var _ rest.WarningHandler = &warnings{}

// HandleWarningHeader is called for each Warning header.
func (w *warnings) HandleWarningHeader(code int, agent string, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.texts = append(w.texts, fmt.Sprintf("%d %s %s", code, agent, text))
}

func (w *warnings) take() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	taken := w.texts
	w.texts = nil
	return taken
}
