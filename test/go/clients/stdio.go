package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"sync"
)

// fields are the particulars of an event.
type fields map[string]any

// output writes events, whole lines, from any goroutine.
type output struct {
	lock sync.Mutex
	json *json.Encoder
}

func newOutput(to io.Writer) *output {
	return &output{json: json.NewEncoder(to)}
}

func (o *output) emit(event string, f fields) {
	all := fields{"event": event}
	for name, value := range f {
		all[name] = value
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	if err := o.json.Encode(all); err != nil {
		panic(err) // a test that cannot be told anything must not pass
	}
}

// input hands out the lines of stdin. Whoever started us has gone when it ends.
type input struct {
	lines chan string
}

func readInput(from io.Reader, end context.CancelFunc) *input {
	in := &input{lines: make(chan string, 16)}
	go func() {
		defer end()
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			in.lines <- scanner.Text()
		}
	}()
	return in
}

// next waits for a go-ahead.
func (in *input) next(ctx context.Context) {
	select {
	case <-in.lines:
	case <-ctx.Done():
	}
}

// answer answers every line with what `state` gives, until the end.
func (s *session) answer(ctx context.Context, state func() fields) {
	for {
		select {
		case <-s.lines:
			s.emit("state", state())
		case <-ctx.Done():
			return
		}
	}
}
