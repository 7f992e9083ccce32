package main

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// takeLogs makes events of what the libraries log: an error is noise that users would see.
func takeLogs(out *output) {
	logger := logr.New(&logSink{out: out})
	klog.SetLogger(logger)
	ctrl.SetLogger(logger)
}

type logSink struct {
	out    *output
	name   string
	values []any
}

func (l *logSink) Init(logr.RuntimeInfo)  {}
func (l *logSink) Enabled(level int) bool { return level == 0 }

func (l *logSink) Info(_ int, message string, values ...any) {
	l.tell("info", message, values)
}

func (l *logSink) Error(err error, message string, values ...any) {
	l.tell("error", fmt.Sprintf("%s: %v", message, err), values)
}

func (l *logSink) WithValues(values ...any) logr.LogSink {
	return &logSink{out: l.out, name: l.name, values: append(l.values[:len(l.values):len(l.values)], values...)}
}

func (l *logSink) WithName(name string) logr.LogSink {
	return &logSink{out: l.out, name: l.name + "/" + name, values: l.values}
}

func (l *logSink) tell(level, message string, values []any) {
	l.out.emit("log", fields{"level": level, "message": message, "logger": l.name, "values": fmt.Sprint(append(l.values[:len(l.values):len(l.values)], values...)...)})
}
