package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/tests/harness/debian"
)

//go:embed wrk/*.lua
var scripts embed.FS

// report is appended to each script: wrk prints its own figures for people, this line is for us.
const report = `
function done(summary, latency)
	local e = summary.errors
	io.write(string.format('\nRESULT {"requests":%d,"micros":%d,"errors":%d,"p50":%d,"p99":%d}\n', summary.requests,
		summary.duration, e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99)))
end
`

// load is one run of wrk against one program.
type load struct {
	Repeated int64 // requests that were sent again after a 503

	Requests, Micros, Errors, P50, P99 int64
	cpu                                time.Duration // of the program, not of wrk and the database
}

func (l load) perSecond() float64     { return float64(l.Requests) / float64(l.Micros) * 1e6 }
func (l load) cpuPerRequest() float64 { return float64(l.cpu.Microseconds()) / float64(l.Requests) }

// installWrk makes sure that there is a wrk.
func installWrk() error {
	if _, err := exec.LookPath("wrk"); err == nil {
		return nil
	}
	if err := debian.Install("wrk"); err != nil {
		return fmt.Errorf("the load generator wrk is needed and could not be installed: %w", err)
	}
	return nil
}

// writeScripts puts the scripts where wrk can read them.
func writeScripts(dir string) error {
	for _, name := range []string{"read", "post"} {
		script, err := scripts.ReadFile("wrk/" + name + ".lua")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".lua"), append(script, report...), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// quota is how many requests all keys together may send to one program within a minute.
const quota = keys * 600

// asked is what a program was asked by its keys in a minute.
type asked struct {
	minute   time.Time
	requests float64
	fastest  float64 // load so far, in requests a second
}

// leave waits for the next minute if the keys might run out of their quota in a load of this length. What is refused then is no measurement.
func (a *asked) leave(ctx context.Context, d time.Duration) error {
	next := a.minute.Add(time.Minute + 100*time.Millisecond)
	if a.requests+1.5*a.fastest*d.Seconds() < quota || time.Now().After(next) {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(next)):
		return nil
	}
}

// add counts a load that has just ended. All of it counts for the minute in which it ended.
func (a *asked) add(l load) {
	if minute := time.Now().Truncate(time.Minute); minute != a.minute {
		a.minute, a.requests = minute, 0
	}
	a.requests, a.fastest = a.requests+float64(l.Requests), max(a.fastest, l.perSecond())
}

// answer asks for what the first line of a file names, and returns what comes. It is for the message about a load that failed: wrk keeps no answer.
func (p *program) answer(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(data), "\n")
	token, path, _ := strings.Cut(line, " ")
	req, err := http.NewRequest(http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
	return fmt.Sprintf("%s %s", resp.Status, body)
}

// put loads a program for a while with what stands in a file, the first of args. An answer that is not a success fails the measurement: it would be
// a fast one.
func put(ctx context.Context, p *program, scriptFile string, connections int, d time.Duration, args ...string) (load, error) {
	if err := p.asked.leave(ctx, d); err != nil {
		return load{}, err
	}
	before, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return load{}, err
	}
	out, err := exec.CommandContext(ctx, "wrk", append([]string{
		"-t1", "-c" + strconv.Itoa(connections), "-d" + d.String(), "-s", scriptFile, p.url, "--"}, args...)...).CombinedOutput()
	if err != nil {
		return load{}, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	after, err := cpuTime(p.cmd.Process.Pid)
	if err != nil {
		return load{}, err
	}
	l := load{cpu: after - before}
	_, result, _ := strings.Cut(string(out), "RESULT ")
	if err := json.Unmarshal([]byte(result), &l); err != nil {
		return load{}, fmt.Errorf("wrk printed no result: %w\n%s", err, out)
	}
	p.asked.add(l)
	if l.Errors > 0 || l.Requests == 0 {
		return load{}, fmt.Errorf("%s: %d of %d answers were errors. Its keys have sent %.0f requests in this minute, and may send %d. It answers one now with: %s\n%s",
			p.name, l.Errors, l.Requests, p.asked.requests, quota, p.answer(args[0]), out)
	}
	return l, nil
}

// cpuTime returns the time that a process has spent on a core so far.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] { // user and system time, in hundredths of a second
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
