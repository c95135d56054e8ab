package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// program is a process under load: the server or the floor.
type program struct {
	name string
	url  string
	cmd  *exec.Cmd

	asked asked
}

// start runs a program on a free port until it answers.
func start(name, path string, env []string, args ...string) (*program, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	p := &program{name: name, url: "http://" + addr, cmd: exec.Command(path, append(args, "--addr", addr)...)}
	p.cmd.Env = append(os.Environ(), env...)
	log, err := os.CreateTemp("", "tillwright-bench-log-") // a file, as under a supervisor: a pipe would wake this process for each line
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close(); _ = os.Remove(log.Name()) }()
	p.cmd.Stderr = log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		if resp, err := http.Get(p.url + "/readyz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return p, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.stop()
	output, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("%s does not answer:\n%s", name, output)
}

// stop ends the program in good order, so that its database is whole.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(12 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
}

// post creates a resource and returns it.
func (p *program) post(token, path string, body any) (map[string]any, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return p.send(http.MethodPost, token, path, data)
}

// get returns a resource or a list.
func (p *program) get(token, path string) (map[string]any, error) {
	return p.send(http.MethodGet, token, path, nil)
}

func (p *program) send(method, token, path string, body []byte) (map[string]any, error) {
	req, err := http.NewRequest(method, p.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	object := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&object); err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %d %v", method, path, resp.StatusCode, object)
	}
	return object, nil
}
