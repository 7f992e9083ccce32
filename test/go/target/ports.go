package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
)

// What listens in the pods.
const (
	echoPort = 7 // says what it is told
	sumPort  = 8 // reads to the end, then says how much it was and its SHA-256
)

// ports are the addresses of real TCP servers by the ports that pods have them at.
type ports map[int32]string

func servePorts() (ports, error) {
	served := ports{}
	for port, serve := range map[int32]func(*net.TCPConn){echoPort: echo, sumPort: sum} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		served[port] = listener.Addr().String()
		go accept(listener, serve)
	}
	return served, nil
}

func accept(listener net.Listener, serve func(*net.TCPConn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			serve(conn.(*net.TCPConn))
		}()
	}
}

func echo(conn *net.TCPConn) {
	io.Copy(conn, conn)
}

func sum(conn *net.TCPConn) {
	io.WriteString(conn, summed(conn))
}

// summed reads to the end, and says how much that was.
func summed(from io.Reader) string {
	hash := sha256.New()
	length, err := io.Copy(hash, from)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %x\n", length, hash.Sum(nil))
}

// PortForward joins a stream of the client with a port of the pod. Each says by itself that it has nothing more to say.
func (c *containers) PortForward(_ context.Context, pod string, port int32, stream io.ReadWriteCloser) error {
	c.out.emit("forwarding", fields{"pod": pod, "port": port})
	defer c.out.emit("forwarded", fields{"pod": pod, "port": port})
	defer stream.Close()
	address, ok := c.ports[port]
	if !ok {
		return fmt.Errorf("nothing listens at port %d of pod %s", port, pod)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if _, err := io.Copy(conn, stream); err != nil {
			conn.Close() // cut rather than ended
		} else {
			conn.(*net.TCPConn).CloseWrite()
		}
	}()
	io.Copy(stream, conn)
	stream.Close()
	conn.Close()
	<-sent
	return nil
}
