package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// shell is a small interactive shell: it echoes each line as a terminal does, and runs `say`, `exit`, `size` and nothing else.
func shell(t terminal, _ []string) error {
	sizes := &lastSize{}
	go sizes.follow(t.resize)
	for in := bufio.NewReader(t.in); ; {
		io.WriteString(t.out, "$ ")
		line, err := echoed(in, t.out)
		if err != nil {
			return nil // the client has left
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch {
		case words[0] == "size":
			fmt.Fprintf(t.out, "%s\r\n", sizes)
		case words[0] == "exit" && len(words) == 2:
			return commands["exit"](t, words[1:])
		case words[0] == "say" && len(words) > 1:
			fmt.Fprintf(t.out, "%s\r\n", strings.Join(words[1:], " "))
		default:
			fmt.Fprintf(t.out, "%s: not found\r\n", words[0])
		}
	}
}

// echoed reads to the end of a line and writes what it reads.
func echoed(in *bufio.Reader, out io.Writer) (string, error) {
	var line strings.Builder
	for {
		char, _, err := in.ReadRune()
		if err != nil {
			return "", err
		}
		if char == '\r' || char == '\n' {
			io.WriteString(out, "\r\n")
			return line.String(), nil
		}
		line.WriteRune(char)
		fmt.Fprintf(out, "%c", char)
	}
}

// lastSize is the size of a terminal.
type lastSize struct {
	lock sync.Mutex
	size remotecommand.TerminalSize
}

func (l *lastSize) follow(sizes <-chan remotecommand.TerminalSize) {
	for size := range sizes {
		l.lock.Lock()
		l.size = size
		l.lock.Unlock()
	}
}

func (l *lastSize) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return fmt.Sprintf("%dx%d", l.size.Width, l.size.Height)
}
