package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
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

// takeLogs makes events of the errors that the libraries log: what users would see and wonder about.
func takeLogs(out *output) {
	logger := logr.New(&logSink{out: out})
	klog.SetLogger(logger)
	ctrl.SetLogger(logger)
}

type logSink struct {
	out  *output
	name string
}

func (l *logSink) Init(logr.RuntimeInfo)          {}
func (l *logSink) Enabled(int) bool               { return true }
func (l *logSink) Info(int, string, ...any)       {}
func (l *logSink) WithValues(...any) logr.LogSink { return l }

func (l *logSink) WithName(name string) logr.LogSink {
	return &logSink{out: l.out, name: l.name + "/" + name}
}

func (l *logSink) Error(err error, message string, values ...any) {
	l.out.emit("log", fields{"level": "error", "message": fmt.Sprintf("%s: %v", message, err), "logger": l.name, "values": fmt.Sprint(values...)})
}
