package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"
)

// containers are what a container runtime has. They run the few commands that are built in, and nothing else.
type containers struct {
	out   *output
	ports ports
}

var _ streaming.Runtime = &containers{}

// terminal is what a command is run with; what was not asked for is nil.
type terminal struct {
	in       io.Reader
	out, err io.WriteCloser
	tty      bool
	resize   <-chan remotecommand.TerminalSize
}

var commands = map[string]func(t terminal, args []string) error{
	// cat says on stdout what it is told on stdin, to its end.
	"cat": func(t terminal, _ []string) error {
		_, err := io.Copy(t.out, t.in)
		return err
	},
	// sum reads stdin to its end.
	"sum": func(t terminal, _ []string) error {
		_, err := io.WriteString(t.out, summed(t.in))
		return err
	},
	// say OUT ERR says one on stdout, the other on stderr.
	"say": func(t terminal, args []string) error {
		io.WriteString(t.out, args[0]+"\n")
		_, err := io.WriteString(t.err, args[1]+"\n")
		return err
	},
	// exit CODE ends with it.
	"exit": func(_ terminal, args []string) error {
		code, err := strconv.Atoi(args[0])
		if err != nil || code == 0 {
			return err
		}
		return exec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
	},
	// size says how large the terminal is, each time that it changes, until stdin ends.
	"size": func(t terminal, _ []string) error {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			io.Copy(io.Discard, t.in)
		}()
		for {
			select {
			case size, ok := <-t.resize:
				if !ok {
					return nil
				}
				fmt.Fprintf(t.out, "%t %dx%d\n", t.tty, size.Width, size.Height)
			case <-ended:
				return nil
			}
		}
	},
}

// The shell runs other commands.
func init() { commands["sh"] = shell }

// Exec runs a command that is built in.
func (c *containers) Exec(_ context.Context, container string, command []string, in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	run, ok := commands[command[0]]
	if !ok {
		return fmt.Errorf("%s: no such command", command[0])
	}
	c.out.emit("running", fields{"container": container, "command": command, "tty": tty})
	failed := run(terminal{in, out, err, tty, resize}, command[1:])
	c.out.emit("ran", fields{"container": container, "command": command})
	return failed
}

// Attach joins a process that says what it is told.
func (c *containers) Attach(_ context.Context, container string, in io.Reader, out, _ io.WriteCloser, tty bool, _ <-chan remotecommand.TerminalSize) error {
	c.out.emit("attached", fields{"container": container, "tty": tty})
	defer c.out.emit("detached", fields{"container": container})
	io.WriteString(out, "attached\n")
	_, err := io.Copy(out, in)
	return err
}
