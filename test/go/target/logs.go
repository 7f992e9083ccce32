package main

import (
	"fmt"
	"net/http"
	"sync"
)

// podLog is what a container has written so far.
type podLog struct {
	lock  sync.Mutex
	lines []string
	over  bool
	more  chan struct{} // closed when there is more than was read
}

func (l *podLog) add(line *string, over bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if line != nil {
		l.lines = append(l.lines, *line)
	}
	l.over = l.over || over
	close(l.more)
	l.more = make(chan struct{})
}

// from gives what comes behind `at` lines, whether that is all for ever, and what to wait for if not.
func (l *podLog) from(at int) ([]string, bool, <-chan struct{}) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.lines[at:], l.over, l.more
}

// podLogs are those of all pods, by name.
type podLogs struct {
	lock sync.Mutex
	pods map[string]*podLog
}

func newPodLogs() *podLogs {
	return &podLogs{pods: map[string]*podLog{}}
}

func (p *podLogs) of(pod string) *podLog {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.pods[pod] == nil {
		p.pods[pod] = &podLog{more: make(chan struct{})}
	}
	return p.pods[pod]
}

// serve writes what there is, and with `follow` what comes, until the container has ended or the client has left.
func (l *podLog) serve(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	follow := req.URL.Query().Get("follow") == "true"
	flusher := http.NewResponseController(w)
	for at := 0; ; {
		lines, over, more := l.from(at)
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
		at += len(lines)
		if err := flusher.Flush(); err != nil || over || !follow {
			return
		}
		select {
		case <-more:
		case <-req.Context().Done():
			return
		}
	}
}
