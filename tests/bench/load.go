package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
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

// put loads a program for a while. An answer that is not a success fails the measurement: it would be a fast one.
func put(ctx context.Context, p *program, scriptFile string, connections int, d time.Duration, args ...string) (load, error) {
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
	if l.Errors > 0 || l.Requests == 0 {
		return load{}, fmt.Errorf("%s: %d of %d answers were errors\n%s", p.name, l.Errors, l.Requests, out)
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
