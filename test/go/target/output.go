package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
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

// order is a line of stdin: a line that a pod says, or that it has said its last.
type order struct {
	Pod string
	Log *string
	End bool
}

// obey does as it is told, until whoever started us has gone.
func obey(from io.Reader, logs *podLogs, end context.CancelFunc) {
	defer end()
	for scanner := bufio.NewScanner(from); scanner.Scan(); {
		var told order
		if err := json.Unmarshal(scanner.Bytes(), &told); err != nil {
			fmt.Fprintln(os.Stderr, "an order that is none:", err)
			return
		}
		logs.of(told.Pod).add(told.Log, told.End)
	}
}
