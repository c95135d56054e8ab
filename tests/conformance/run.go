// Package conformance holds a server to the contract by HTTP alone: every answer, every convention over every operation. Its
// rules are those of tests/contract, which boots a server for them, and of `tillwright conformance`, which asks one that runs.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say which server is held to the contract, and to how much of it.
type Options struct {
	URL       string // without /v1
	Key       string
	SecondKey string   // of another account, "" without one
	Only      []string // names of promises, of what they are about, and of resources; nil is all
	ReadOnly  bool     // nothing is made, and nothing is sent that would be if a promise is broken
	Listen    string   // address to take webhooks at, host:port; "" without
	Webhooks  string   // URL at which the server reaches that; "" if it is its address
	Progress  func(line string)
	Transport http.RoundTripper // http.DefaultTransport when nil
	Document  *Document         // that the server serves; it is asked for it when nil
}

// run is a run under way.
type run struct {
	Options
	document *Document
	coverage *Coverage
	pace     *pace
	mu       sync.Mutex // of the results
	results  map[string]*Result
	receiver *receiver
}

// Check holds a server to the contract. It is an error if that cannot be begun, or if ctx ends; the report says which promises
// are broken. What was made is taken away again in each case.
func Check(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	r := &run{Options: o, coverage: &Coverage{}, results: map[string]*Result{}}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	chosen, concerned, err := r.choose()
	if err != nil {
		return nil, err
	}
	report := &Report{URL: o.URL, Operations: len(r.document.Operations), Notes: []string{}}
	for _, p := range promises {
		r.results[p.Name] = &Result{Name: p.Name, Sentence: p.Sentence, Broken: []*Break{}, NotChecked: []*Gap{}}
		if p.check == nil || slices.Contains(chosen, p) {
			report.Promises = append(report.Promises, r.results[p.Name])
		}
	}
	if o.Listen != "" {
		if r.receiver, err = listen(o.Listen, o.Webhooks); err != nil {
			return nil, err
		}
		defer func() { _ = r.receiver.server.Close() }()
	}
	mine, theirs := r.account(o.Key, concerned), (*builder)(nil)
	if o.SecondKey != "" {
		theirs = r.account(o.SecondKey, concerned)
	}
	var (
		beyond   sync.Mutex
		isBeyond bool  // whether one request more than a quota was answered
		tried    int64 // for the quota that is full again then
	)
	limit := r.results["quota"]
	if slices.Contains(report.Promises, limit) {
		r.pace.spent = func(authorization string, reset int64) {
			beyond.Lock()
			defer beyond.Unlock()
			if (authorization == "Bearer "+o.Key || authorization == "Bearer "+o.SecondKey) && !isBeyond && tried != reset {
				tried, isBeyond = reset, r.isRefused(limit, authorization, reset)
			}
		}
	}
	for i, p := range chosen {
		if ctx.Err() != nil {
			break
		}
		r.Progress(fmt.Sprintf("%d of %d: %s", i+1, len(chosen), p.Name))
		if theirs != nil && r.pace.remaining(o.SecondKey) > r.pace.remaining(o.Key) { // each key has a quota
			r.hold(p, theirs, mine)
		} else {
			r.hold(p, mine, theirs)
		}
	}
	for _, b := range []*builder{mine, theirs} {
		if b != nil {
			r.tidy(b)
			for _, note := range b.notes {
				if !slices.Contains(report.Notes, note) {
					report.Notes = append(report.Notes, note)
				}
			}
		}
	}
	switch {
	case r.pace.spent == nil || isBeyond:
	case tried != 0:
		limit.skip("", "a minute began before one request more than the quota was answered")
	default:
		limit.skip("", "no key used up its quota, so that one more request was not sent")
	}
	for _, result := range report.Promises {
		result.settle(r.pace.sent)
	}
	for _, p := range promises { // those of every answer are not held, since an interrupt leaves some answers out
		if result := r.results[p.Name]; slices.Contains(report.Promises, result) && result.Outcome != OutcomeBroken && !result.held && (p.check != nil || ctx.Err() != nil) {
			result.skip("", "the run was interrupted")
			result.Outcome = OutcomeNotChecked
		}
	}
	report.Requests, report.Duration = r.pace.sent, time.Since(began)
	for _, op := range r.document.Operations {
		if r.coverage.asked(op) {
			report.Asked++
		}
	}
	return report, ctx.Err()
}

// begin reads the document that the server serves, and looks whether it knows the keys.
func (r *run) begin(ctx context.Context) (err error) {
	base := r.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	if r.Progress == nil {
		r.Progress = func(string) {}
	}
	if r.document = r.Document; r.document == nil {
		if r.document, err = Served(ctx, r.URL, base); err != nil {
			return err
		}
	}
	r.pace = &pace{ctx: ctx, base: base, document: r.document, left: map[string]*window{}, progress: func(wait time.Duration) {
		r.Progress(fmt.Sprintf("the quota is used up: waiting %d seconds", int(wait.Seconds())+1))
	}}
	accounts := map[string]string{}
	for flag, key := range map[string]string{"--key": r.Key, "--second-key": r.SecondKey} {
		if key == "" && flag != "--key" {
			continue
		}
		answer, err := r.client(key).Try(http.MethodGet, "/v1/account", nil)
		switch {
		case err != nil:
			return fmt.Errorf("no answer from %s: %w", r.URL, err)
		case answer.Status == http.StatusUnauthorized:
			return fmt.Errorf("the server does not know the key of %s", flag)
		case answer.Status == http.StatusForbidden:
			return fmt.Errorf("the key of %s needs all scopes: make one without --scope", flag)
		}
		accounts[string(answer.Body)] += flag
	}
	if r.SecondKey != "" && len(accounts) == 1 {
		return errors.New("--second-key is of the same account as --key: pass a key of another one")
	}
	return nil
}

// Served returns the document that a server serves.
func Served(ctx context.Context, address string, through http.RoundTripper) (*Document, error) {
	reader := http.Client{Transport: through, Timeout: time.Minute}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	resp, err := reader.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer from %s: %w", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s/openapi.json: %w", address, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/openapi.json is answered %d: the document that the server serves is needed", address, resp.StatusCode)
	}
	document, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s/openapi.json is no document of OpenAPI 3.0: %w", address, err)
	}
	return document, nil
}

// client sends requests with a key. Its answers are not looked at.
func (r *run) client(key string) *Client {
	return &Client{URL: r.URL, Key: key, HTTP: &http.Client{Transport: r.pace, Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// choose returns the promises that are to be checked, and which operations they concern.
func (r *run) choose() (chosen []*Promise, concerned func(*Operation) bool, err error) {
	var resources []string
	named := map[*Promise]bool{}
	known := map[string]bool{}
	for _, name := range r.Only {
		isResource := slices.ContainsFunc(r.document.Operations, func(op *Operation) bool { return slices.Contains(op.resources(), name) })
		isPromise := false
		for _, p := range promises {
			if p.about(name) {
				named[p], isPromise = true, true
			}
		}
		if isResource {
			resources = append(resources, name)
		} else if !isPromise {
			for _, p := range promises {
				for _, name := range append(p.Groups, p.Name) {
					known[name] = true
				}
			}
			for _, op := range r.document.Operations {
				known[op.resources()[0]] = true
			}
			return nil, nil, fmt.Errorf("--only %s is none of %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	for _, p := range promises {
		if p.check != nil && (len(named) == 0 || named[p]) && (!p.writes || !r.ReadOnly) {
			chosen = append(chosen, p)
		}
	}
	return chosen, func(op *Operation) bool {
		if op.IsWrite() && !op.harmless() {
			return false
		}
		return len(resources) == 0 || slices.ContainsFunc(op.resources(), func(name string) bool { return slices.Contains(resources, name) })
	}, nil
}

// harmless tells the writes that may be sent to a server in production. They must be refused. If they are done all the same, they concern what was
// made for the checks. They touch neither the account itself nor anybody's money, send no letter, and reach no real network.
func (o *Operation) harmless() bool {
	external, _ := o.route.Operation.Extensions["x-external-effect"].(bool)
	development, _ := o.route.Operation.Extensions["x-development"].(bool)
	single := !strings.Contains(o.Path, "{") && o.Method != http.MethodPost
	if strings.HasPrefix(o.Scope, "ads:") { // of the sandbox, whose ids are all that is sent
		return !development && !single && !slices.Contains([]string{"/v1/socials", "/v1/socials/connect", "/v1/ads/conversions"}, o.Path)
	}
	writes := slices.Contains([]string{"createProductNews", "resendLetter", "resendOrderReceipt", "sendInvoice"}, o.ID)
	return !external && !development && !single && !o.Public && !strings.Contains(o.Approval, "locked") && !writes
}

// account returns the world of a key, with what the checks send in it unless nothing may be made.
func (r *run) account(key string, concerned func(*Operation) bool) *builder {
	world := &World{Client: r.client(key), Document: r.document, IDs: map[string]string{}, Found: map[string]string{}, Slugs: map[string]string{}, SentLetter: func() string { return "" }}
	s := &Subject{World: world, ReadsOnly: r.ReadOnly, Concerned: concerned, Tag: Unique(), receiver: r.receiver}
	b := &builder{Subject: s, t: &part{run: r, result: r.results["document"]}}
	world.HTTP.Transport, s.isMade = keeping{r.pace, b}, b.isMade
	checked := func(t TB, key string) *Client {
		c := r.client(key)
		c.HTTP.Transport = &Transport{T: t, Document: r.document, Coverage: r.coverage, Base: keeping{r.pace, b}}
		return c
	}
	s.Fresh = func(t TB) *Client { return checked(t, key) }
	s.Stranger = func(t TB, _ int) *Client { return checked(t, "") }
	if !r.ReadOnly {
		r.Progress("making what is sent")
		b.safely(b.build)
		b.safely(func() { s.Revoked = b.revoked() })
	}
	b.safely(b.find) // what came of that, too
	return b
}

// revoked makes a key, and deletes it.
func (b *builder) revoked() string {
	made := b.make("revoked", "/v1/auth/keys", map[string]any{"name": b.Mark(), "scopes": []string{"products:read"}})
	delete(b.IDs, "revoked")
	if made == nil || b.removeOne("/v1/auth/keys", fmt.Sprint(made["id"])) != "" {
		return ""
	}
	token, _ := made["token"].(string)
	return token
}

// hold checks a promise.
func (r *run) hold(p *Promise, mine, theirs *builder) {
	t := &part{run: r, result: r.results[p.Name]}
	t.result.held = true
	var other *Subject
	if theirs != nil {
		other = theirs.Subject
	}
	if p.second && other == nil {
		t.NotChecked("it takes the key of a second account: pass --second-key")
		return
	}
	before := t.result.Breaks
	t.Run("", func(t T) { p.check(t, mine.Subject, other) })
	t.result.held = r.pace.ctx.Err() == nil || t.result.Breaks > before
	if t.result.Breaks > before && !r.ReadOnly && r.pace.ctx.Err() == nil { // what ought to be refused may have been done
		mine.safely(mine.build)
		clear(mine.Found)
		mine.safely(mine.find)
	}
}

// tidy takes away what was made, also if the run was interrupted.
func (r *run) tidy(b *builder) {
	r.Progress("taking away what was made")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.pace.ctx), 5*time.Minute)
	defer cancel()
	r.pace.ctx = ctx
	b.safely(b.remove)
}
