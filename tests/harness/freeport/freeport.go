// Package freeport finds ports that stay free for a test.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Listen listens at a port of 127.0.0.1 below those that the kernel gives away by itself. No other process that asks for any port, or connects to
// somebody, gets this one. So whoever listens here may go away for a while and come back.
func Listen() (net.Listener, error) {
	for range 1000 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000))))
		if err == nil {
			return l, nil
		}
	}
	return nil, errors.New("no port is free")
}

// Port returns a port of 127.0.0.1 at which nobody listens, as Listen finds it.
func Port() (int, error) {
	l, err := Listen()
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
