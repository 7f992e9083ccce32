package main

import (
	"crypto/rand"
	"sort"
	"sync"
	"time"
)

// moment is how long it takes to make a space, and to delete one.
const moment = 50 * time.Millisecond

// space is one as the protocol tells of it.
type space struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Phase   string `json:"phase"`
	Message string `json:"message,omitempty"`
}

// spaces are those that there are, and whoever wants to hear of changes.
type spaces struct {
	mutex     sync.Mutex
	byName    map[string]space
	listeners map[chan string]struct{}
}

func newSpaces() *spaces {
	return &spaces{byName: map[string]space{}, listeners: map[chan string]struct{}{}}
}

// list has all of them behind a name, in the order of their names.
func (s *spaces) list(after string) []space {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := []space{}
	for name, one := range s.byName {
		if name > after {
			all = append(all, one)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

func (s *spaces) get(name string) (space, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	one, there := s.byName[name]
	return one, there
}

// create begins to make one, unless it is there.
func (s *spaces) create(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, there := s.byName[name]; there {
		return
	}
	one := space{Name: name, ID: rand.Text(), Phase: "Initializing", Message: "it is being made"}
	s.byName[name] = one
	s.tell(name)
	time.AfterFunc(moment, func() {
		s.replace(one, &space{Name: name, ID: one.ID, Phase: "Ready"})
	})
}

// remove begins to delete one, if it is there.
func (s *spaces) remove(name string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	one, there := s.byName[name]
	if !there {
		return
	}
	leaving := space{Name: name, ID: one.ID, Phase: "Initializing", Message: "it is being deleted"}
	s.byName[name] = leaving
	s.tell(name)
	time.AfterFunc(moment, func() { s.replace(leaving, nil) })
}

// replace puts another in the place of one, unless that has become another one meanwhile.
func (s *spaces) replace(before space, after *space) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.byName[before.Name] != before {
		return
	}
	if after == nil {
		delete(s.byName, before.Name)
	} else {
		s.byName[before.Name] = *after
	}
	s.tell(before.Name)
}

// listen tells of the names of spaces that change, from now on until it is left. One who lags is told "": any.
func (s *spaces) listen() (<-chan string, func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	changes := make(chan string, 100)
	s.listeners[changes] = struct{}{}
	return changes, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.listeners, changes)
	}
}

// tell is called with the mutex held.
func (s *spaces) tell(name string) {
	for changes := range s.listeners {
		select {
		case changes <- name:
		default: // it is full: one of them becomes any
			select {
			case <-changes:
			default:
			}
			changes <- ""
		}
	}
}
