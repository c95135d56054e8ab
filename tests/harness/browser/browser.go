// Package browser drives a real browser, Chromium, by its own protocol over a pipe. The browser reaches only this machine, and
// the hosts that it is told to find here.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness/debian"
)

// patience is how long a test waits for anything. A machine that is ten times slower is through in time.
const patience = 5 * time.Minute

// Page is the window of a browser of its own.
type Page struct {
	t       testing.TB
	pipe    *os.File
	session string

	mu       sync.Mutex
	next     int
	answers  map[int]chan message
	security []string
}

// message is a command, an answer to one, or an event.
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

// Open starts a browser until the test ends. Hosts maps names of other hosts to addresses of this machine, where they are
// found; their certificates are not checked. If there is no Chromium, it is installed.
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
	cmd := exec.Command(program, "--headless=new", "--accept-lang=en-US", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
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

// browsers are the programs that will do, the best first. That without windows takes half the time, and draws and runs pages as the other does.
var browsers = []string{"chromium-headless-shell", "chromium"}

// find returns the path of the browser, which it installs if there is none.
func find() (string, error) {
	for _, name := range browsers {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	var failed error
	for _, name := range browsers { // not every Debian has both
		err := debian.Install(name)
		if err == nil {
			return exec.LookPath(name)
		}
		failed = errors.Join(failed, err)
	}
	return "", failed
}

// start starts the browser, which reads commands from its file descriptor 3 and answers on 4.
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
	if err := start(cmd); err != nil {
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

// read gives each answer to whoever waits for it, and keeps what the browser says about security.
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

// call sends a command and reads its answer. If there is none, or it is an error, the test fails.
func (p *Page) call(method string, params, into any) {
	p.t.Helper()
	if err := p.try(method, params, into); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

// try is call that returns the error instead.
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

// Value returns the value of a JavaScript expression on the page, as text. It is empty while there is no page.
func (p *Page) Value(expression string) string {
	p.t.Helper()
	var answer struct{ Result struct{ Value any } }
	if p.try("Runtime.evaluate", object{"expression": expression, "returnByValue": true}, &answer) != nil || answer.Result.Value == nil {
		return ""
	}
	return fmt.Sprint(answer.Result.Value)
}

// Text returns the text that can be read on the page.
func (p *Page) Text() string {
	p.t.Helper()
	return p.Value(`document.body.innerText`)
}

// Wait waits until an expression is true, on whatever page is open then.
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

// Click clicks into the middle of the element that a selector finds, as a hand would.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.press(selector, 1)
}

// Fill replaces the text of the element that a selector finds. That may also be a frame with one line of text.
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

// rest returns the middle of an element, once it no longer moves.
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

// Refused returns what the browser has refused to do because of a policy.
func (p *Page) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.security...)
}

// Shift returns how much of the page has moved by itself since it was opened, as its cumulative layout shift (https://web.dev/articles/cls).
func (p *Page) Shift() float64 {
	p.t.Helper()
	p.Value(`window.shifted = 0; new PerformanceObserver(list => { for (const e of list.getEntries()) { window.shifted += e.hadRecentInput ? 0 : e.value } }).observe({type: "layout-shift", buffered: true});
		requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { window.shiftIsKnown = true }))); 0`)
	p.Wait("window.shiftIsKnown")
	var shift float64
	if err := json.Unmarshal([]byte(p.Value("JSON.stringify(window.shifted)")), &shift); err != nil {
		p.t.Fatal(err)
	}
	return shift
}

// Loaded returns how many requests the page has made, itself included, and how many bytes their answers had as they were sent. Of another host it knows
// those alone whose answers have Timing-Allow-Origin.
func (p *Page) Loaded() (requests, bytes int) {
	p.t.Helper()
	var loaded []int
	if err := json.Unmarshal([]byte(p.Value(`JSON.stringify([...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(e => e.encodedBodySize))`)), &loaded); err != nil {
		p.t.Fatal(err)
	}
	for _, size := range loaded {
		bytes += size
	}
	return len(loaded), bytes
}

// SlowPhone has pages come and run as on a telephone of 2016 with a slow 4G connection. It is 150 ms there and back, at 1.6 Mbit/s, and the processor
// is four times slower than this one. Nothing is kept from the page before.
func (p *Page) SlowPhone() {
	p.t.Helper()
	p.call("Network.enable", nil, nil)
	p.call("Network.setCacheDisabled", object{"cacheDisabled": true}, nil)
	p.call("Network.emulateNetworkConditions", object{"offline": false, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8}, nil)
	p.call("Emulation.setCPUThrottlingRate", object{"rate": 4}, nil)
}

// Paint is the largest thing that a page has drawn (https://web.dev/articles/lcp).
type Paint struct {
	At      float64 // milliseconds since the page was asked for
	Address string  // of a picture, empty for a text
	Element string  // its name in HTML
}

// Largest returns the largest thing that the page has drawn until it was loaded, before anybody touched it.
func (p *Page) Largest() Paint {
	p.t.Helper()
	p.Wait("document.readyState === 'complete'")
	p.Value(`requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { window.isDrawn = true }))); 0`) // what came last is drawn too
	p.Wait("window.isDrawn")
	p.Value(`new PerformanceObserver(list => { for (const e of list.getEntries()) {
		window.largest = JSON.stringify({At: e.startTime, Address: e.url, Element: e.element?.localName ?? ""}) } }).observe({type: "largest-contentful-paint", buffered: true}); 0`)
	p.Wait("window.largest")
	var largest Paint
	if err := json.Unmarshal([]byte(p.Value("window.largest")), &largest); err != nil {
		p.t.Fatal(err)
	}
	return largest
}

// Width makes the window this wide.
func (p *Page) Width(pixels int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", object{"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Look writes a picture of the window at a width into a file, for people to look at.
func (p *Page) Look(file string, width int) {
	p.t.Helper()
	p.Width(width)
	p.call("Emulation.setScrollbarsHidden", object{"hidden": true}, nil) // they would hide the margin of the page
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

// Save has the files that the page downloads written into a folder.
func (p *Page) Save(folder string) {
	p.t.Helper()
	p.call("Browser.setDownloadBehavior", object{"behavior": "allow", "downloadPath": folder}, nil)
}

// WithoutScripts has no script of a page run.
func (p *Page) WithoutScripts() {
	p.t.Helper()
	p.call("Emulation.setScriptExecutionDisabled", object{"value": true}, nil)
}

// Scheme has pages think that the person likes them light or dark.
func (p *Page) Scheme(scheme string) {
	p.t.Helper()
	p.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Key presses a key by its name, such as Tab or Enter, wherever the focus is.
func (p *Page) Key(name string) {
	p.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "ArrowDown": 40}
	code, known := codes[name]
	if !known {
		p.t.Fatalf("no key is called %s", name)
	}
	text := map[string]string{"Enter": "\r"}[name]
	p.call("Input.dispatchKeyEvent", object{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": code, "text": text}, nil)
	p.call("Input.dispatchKeyEvent", object{"type": "keyUp", "key": name, "code": name, "windowsVirtualKeyCode": code}, nil)
}

// Type writes a text wherever the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.call("Input.insertText", object{"text": text}, nil)
}

// Choose gives files to the field that a selector finds.
func (p *Page) Choose(selector string, files ...string) {
	p.t.Helper()
	quoted, _ := json.Marshal(selector)
	p.Wait(`document.querySelector(` + string(quoted) + `)`)
	var field struct{ Result struct{ ObjectID string } }
	p.call("Runtime.evaluate", object{"expression": `document.querySelector(` + string(quoted) + `)`}, &field)
	p.call("DOM.setFileInputFiles", object{"files": files, "objectId": field.Result.ObjectID}, nil)
}
