// A space provider by the standard library alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	token := os.Getenv("SPACE_PROVIDER_TOKEN")
	if token == "" {
		log.Fatal("SPACE_PROVIDER_TOKEN: give the token that managers have")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ending, end := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:           &provider{token: token, spaces: newSpaces(), ending: ending},
		ReadHeaderTimeout: 10 * time.Second,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
		end() // watches come to their end
		within, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(within)
	}()
	fmt.Printf("http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	<-ended // what is under way comes to its end
}
