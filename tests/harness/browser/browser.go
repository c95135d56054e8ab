// Package browser drives a real browser, Chromium, by its own protocol over a pipe. It reaches this machine, the hosts
// that it is told to find here, and nothing else.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness/debian"
)

// patience is how long anything may take that a test waits for.
const patience = time.Minute

// Page is a window of a browser of its own.
type Page struct {
	t       testing.TB
	pipe    *os.File
	session string

	mu       sync.Mutex
	next     int
	answers  map[int]chan message
	security []string
}

// message is a command, its answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

type object = map[string]any

// Open starts a browser until the test ends. Hosts says on which address of this machine others are found, by name;
// their certificates are believed. Where there is no Chromium it is installed.
func Open(t testing.TB, hosts map[string]string) *Page {
	t.Helper()
	program, err := find()
	if err != nil {
		t.Fatalf("install a browser: %v", err)
	}
	var rules []string
	for name, address := range hosts {
		rules = append(rules, "MAP "+name+" "+address)
	}
	rules = append(rules, "MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1")
	// Root has no sandbox, and frames of other sites are to take keys as the page does.
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process",
		"--ignore-certificate-errors", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "--host-resolver-rules="+strings.Join(rules, ","), "about:blank")
	p := &Page{t: t, answers: map[int]chan message{}}
	p.start(cmd)
	var target struct{ TargetID, SessionID string }
	p.call("Target.createTarget", object{"url": "about:blank"}, &target)
	p.call("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &target)
	p.session = target.SessionID
	p.call("Page.enable", nil, nil)
	p.call("Log.enable", nil, nil)
	return p
}

// find returns the program, which it installs where there is none.
func find() (string, error) {
	if program, err := exec.LookPath("chromium"); err == nil {
		return program, nil
	}
	if err := debian.Install("chromium"); err != nil {
		return "", err
	}
	return exec.LookPath("chromium")
}

// start runs the browser, which reads commands from its file 3 and answers to its file 4.
func (p *Page) start(cmd *exec.Cmd) {
	p.t.Helper()
	theirs, ours, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	said, says, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{theirs, says}
	if err := cmd.Start(); err != nil {
		p.t.Fatalf("start the browser: %v", err)
	}
	theirs.Close()
	says.Close()
	p.pipe = ours
	p.t.Cleanup(func() {
		ours.Close() // it ends without its pipe
		ended := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		ended.Stop()
		said.Close()
	})
	go p.read(bufio.NewReader(said))
}

// read hands answers to who waits for them, and keeps what the browser says about security.
func (p *Page) read(from *bufio.Reader) {
	for {
		text, err := from.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if text = text[:len(text)-1]; json.Unmarshal(text, &m) != nil {
			continue
		}
		p.mu.Lock()
		if m.ID != 0 && p.answers[m.ID] != nil {
			p.answers[m.ID] <- m
		} else if m.Method == "Log.entryAdded" && strings.Contains(string(text), `"source":"security"`) {
			p.security = append(p.security, string(text))
		}
		p.mu.Unlock()
	}
}

// call sends a command and reads its answer.
func (p *Page) call(method string, params, into any) {
	p.t.Helper()
	if err := p.try(method, params, into); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *Page) try(method string, params, into any) error {
	p.mu.Lock()
	p.next++
	id, answer := p.next, make(chan message, 1)
	p.answers[id] = answer
	p.mu.Unlock()
	text, err := json.Marshal(message{ID: id, Session: p.session, Method: method, Params: params})
	if err != nil {
		return err
	}
	if _, err := p.pipe.Write(append(text, 0)); err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s", m.Error.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(m.Result, into)
	case <-time.After(patience):
		return fmt.Errorf("no answer within %s", patience)
	}
}

// Go opens an address.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.call("Page.navigate", object{"url": address}, nil)
}

// Value is what an expression of JavaScript is on the page, as text; empty while there is no page.
func (p *Page) Value(expression string) string {
	p.t.Helper()
	var answer struct{ Result struct{ Value any } }
	if p.try("Runtime.evaluate", object{"expression": expression, "returnByValue": true}, &answer) != nil || answer.Result.Value == nil {
		return ""
	}
	return fmt.Sprint(answer.Result.Value)
}

// Text is what can be read on the page.
func (p *Page) Text() string {
	p.t.Helper()
	return p.Value(`document.body.innerText`)
}

// Wait waits until an expression is true on whatever page there is then.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); p.Value(`!!(`+expression+`)`) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s never became true on %s:\n%s\n%s", expression, p.Value(`location.href`), p.Text(), strings.Join(p.Refused(), "\n"))
		}
	}
}

// WaitText waits until a text can be read on the page.
func (p *Page) WaitText(text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(text)
	p.Wait(`document.body && document.body.innerText.includes(` + string(quoted) + `)`)
}

// Click presses what a selector finds, in its middle, as a hand would.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.press(selector, 1)
}

// Fill enters text into what a selector finds, a frame with one line too, instead of all that is there.
func (p *Page) Fill(selector, text string) {
	p.t.Helper()
	p.press(selector, 3) // the whole line
	p.call("Input.insertText", object{"text": text}, nil)
}

func (p *Page) press(selector string, times int) {
	p.t.Helper()
	quoted, _ := json.Marshal(selector)
	p.Wait(`document.querySelector(` + string(quoted) + `)`)
	var place struct{ X, Y float64 }
	if err := json.Unmarshal([]byte(p.rest(string(quoted))), &place); err != nil {
		p.t.Fatalf("find %s: %v", selector, err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.call("Input.dispatchMouseEvent", object{"type": kind, "x": place.X, "y": place.Y, "button": "left", "clickCount": times}, nil)
	}
}

// rest is the middle of an element, once it no longer moves.
func (p *Page) rest(quoted string) string {
	p.t.Helper()
	before := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		at := p.Value(`(e => { e.scrollIntoView({block: 'center'}); let r = e.getBoundingClientRect(); return JSON.stringify({x: r.x + r.width / 2, y: r.y + r.height / 2}) })(document.querySelector(` + quoted + `))`)
		if at == before && at != "" {
			return at
		}
		before = at
	}
	return before
}

// Refused lists what the browser did not do because of a policy.
func (p *Page) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.security...)
}

// Width makes the window so many pixels wide.
func (p *Page) Width(pixels int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", object{"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Look writes a picture of a window of a width into a file, for people.
func (p *Page) Look(file string, width int) {
	p.t.Helper()
	p.Width(width)
	var picture struct{ Data string }
	p.call("Page.captureScreenshot", object{"captureBeyondViewport": true}, &picture)
	image, err := base64.StdEncoding.DecodeString(picture.Data)
	if err == nil {
		err = os.WriteFile(file, image, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
