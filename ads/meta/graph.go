package meta

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tillwright/tillwright/ads"
)

const (
	tries     = 3        // of a read
	maxAnswer = 32 << 20 // bytes
	pageSize  = 100      // rows of a list in one answer, the most that posts come in
)

// graph sends requests to the Graph API. The token is sent in a header, so that it stands in no address and in no log of
// addresses.
type graph struct {
	client           *http.Client
	base             string
	secret           ads.Secret
	timeout, backoff time.Duration
	near             sync.Map // the channels' tokens whose limit is near -> percent of it that is used, as of the last answer
}

func newGraph(o Options) *graph {
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a token goes nowhere else
	return &graph{client: &client, base: strings.TrimSuffix(o.BaseURL, "/") + "/" + cmp.Or(o.Version, DefaultVersion) + "/", secret: o.Secret,
		timeout: orDefault(o.Timeout, 10*time.Second), backoff: orDefault(o.Backoff, 300*time.Millisecond)}
}

// reply says how a request ended that did not end well.
type reply struct {
	sent bool  // Meta may have received it
	err  error // what Meta said, or why it said nothing
	soft bool  // the same request may be answered another time
}

// get reads something, and tries again after a fault. If the fault stays, the error is ads.ErrUnavailable.
func (g *graph) get(ctx context.Context, token ads.Secret, at place, params url.Values, into any) error {
	wait := g.backoff
	if !g.ease(ctx, token) {
		return fmt.Errorf("%w: no time is left", ads.ErrUnavailable)
	}
	for try := 1; ; try++ {
		r := g.send(ctx, http.MethodGet, token, at, params, into)
		if r == nil {
			return nil
		}
		if !r.soft {
			return r.err
		}
		if try == tries || !sleep(ctx, wait) {
			return fmt.Errorf("%w: %w", ads.ErrUnavailable, r.err)
		}
		wait *= 2
	}
}

// The share of a limit, in percent, from which reads come more slowly, and how long one waits at most.
const (
	easeFrom = 75
	easeTime = 2 * time.Second
)

// ease waits the longer, the nearer the channel's limit is. It returns false if the context ends before.
func (g *graph) ease(ctx context.Context, token ads.Secret) bool {
	percent, near := g.near.Load(token)
	return !near || sleep(ctx, min(time.Duration(min(percent.(float64), 100)-easeFrom)*g.backoff/2, easeTime))
}

// heed remembers how near its limit a channel is.
func (g *graph) heed(h http.Header, token ads.Secret) {
	if percent := usage(h); percent > easeFrom {
		g.near.Store(token, percent)
	} else {
		g.near.Delete(token)
	}
}

// write sends a POST or DELETE once. After a fault the error is ads.ErrIndeterminate, because Meta may have done it,
// unless Meta cannot have received it: that is ads.ErrUnavailable.
func (g *graph) write(ctx context.Context, method string, token ads.Secret, at place, params url.Values, into any) error {
	r := g.send(ctx, method, token, at, params, into)
	switch {
	case r == nil:
		return nil
	case !r.soft:
		return r.err
	case r.sent:
		return fmt.Errorf("%w: %w", ads.ErrIndeterminate, r.err)
	default:
		return fmt.Errorf("%w: %w", ads.ErrUnavailable, r.err)
	}
}

func (g *graph) post(ctx context.Context, token ads.Secret, at place, params url.Values, into any) error {
	return g.write(ctx, http.MethodPost, token, at, params, into)
}

// order sends a write whose answer says nothing but whether it succeeded.
func (g *graph) order(ctx context.Context, method string, token ads.Secret, at place, params url.Values) error {
	var done struct{ Success bool }
	err := g.write(ctx, method, token, at, params, &done)
	if err == nil && !done.Success {
		return fmt.Errorf("%w: the answer does not speak of success", ads.ErrIndeterminate)
	}
	return err
}

func (g *graph) delete(ctx context.Context, token ads.Secret, at place) error {
	return g.order(ctx, http.MethodDelete, token, at, nil)
}

// sleep waits, and returns false if the context ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// send makes one request and reads its answer into `into`. It returns nil if all went well.
func (g *graph) send(ctx context.Context, method string, token ads.Secret, at place, params url.Values, into any) *reply {
	path, ok := at.path()
	if !ok {
		return &reply{err: ads.ErrNotFound}
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request, err := g.request(ctx, method, path, g.signed(params, token))
	if err != nil {
		return &reply{err: errors.New("build request: the address of the network is wrong")}
	}
	request.Header.Set("Authorization", "Bearer "+token.Reveal())
	answer, err := g.client.Do(request)
	if err != nil {
		return &reply{sent: connected.Load(), soft: true, err: silence(err, token)}
	}
	defer func() { _ = answer.Body.Close() }()
	g.heed(answer.Header, token)
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return &reply{sent: true, soft: true, err: silence(err, token)}
	}
	return read(answer, text, token, into)
}

// ask makes a request that no token signs, because it asks for one.
func (g *graph) ask(ctx context.Context, path string, params url.Values, into any) *reply {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	request, err := g.request(ctx, http.MethodGet, path, params)
	if err != nil {
		return &reply{err: errors.New("build request: the address of the network is wrong")}
	}
	answer, err := g.client.Do(request)
	if err != nil {
		return &reply{soft: true, err: silence(err, g.secret)}
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return &reply{soft: true, err: silence(err, g.secret)}
	}
	return read(answer, text, g.secret, into)
}

// signed returns the parameters with the proof that whoever has the token has the app's secret too ("Securing Graph API Requests"). Without
// a secret they stay as they are.
func (g *graph) signed(params url.Values, token ads.Secret) url.Values {
	if g.secret == "" {
		return params
	}
	signed := url.Values{}
	maps.Copy(signed, params)
	sum := hmac.New(sha256.New, []byte(g.secret.Reveal()))
	sum.Write([]byte(token.Reveal()))
	signed.Set("appsecret_proof", hex.EncodeToString(sum.Sum(nil)))
	return signed
}

// request builds a request. Its parameters stand in the body of a POST, and of the removal of people, which would not fit into an address. In all
// other calls they stand in the address.
func (g *graph) request(ctx context.Context, method, path string, params url.Values) (*http.Request, error) {
	address, body := g.base+path, io.Reader(nil)
	form := method == http.MethodPost || params.Has("payload")
	if form {
		body = strings.NewReader(params.Encode())
	} else if len(params) > 0 {
		address += "?" + params.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err == nil && form {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, err
}

// read reads an answer. If it is neither what was asked for nor an error in Meta's form, nobody knows what became of the
// request.
func read(answer *http.Response, text []byte, token ads.Secret, into any) *reply {
	var failed struct{ Error *graphError }
	known := json.Unmarshal(text, &failed) == nil
	switch {
	case known && failed.Error != nil:
		failed.Error.status = answer.StatusCode
		return failed.Error.reply(answer.Header, token)
	case !known || answer.StatusCode != http.StatusOK:
		return &reply{sent: true, soft: true, err: fmt.Errorf("the answer %d is not one of the Graph API", answer.StatusCode)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return &reply{sent: true, soft: true, err: errors.New("the answer does not have the form of the Graph API's")}
	}
	return nil
}

// silence returns why there was no answer, without the address.
func silence(err error, token ads.Secret) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return errors.New("no answer: " + clean(err.Error(), token))
}

var (
	tokenParam = regexp.MustCompile(`(access_token|appsecret_proof|input_token)(=|%3D|["':\s]+)[^&\s"']+`)
	tokenText  = regexp.MustCompile(`\bEAA[0-9A-Za-z]{16,}`)
)

// clean removes tokens from a text: the one that was sent, in every way it can be written, and whatever looks like one.
func clean(text string, token ads.Secret) string {
	const hidden = "[secret]"
	if t := token.Reveal(); t != "" {
		text = strings.NewReplacer(t, hidden, url.QueryEscape(t), hidden, strconv.Quote(t), hidden).Replace(text)
	}
	return tokenText.ReplaceAllString(tokenParam.ReplaceAllString(text, "$1$2"+hidden), hidden)
}

// place is a node of the graph, or an edge of one, which is a list.
type place struct{ id, edge string }

var nodeID = regexp.MustCompile(`^(act_|[0-9]{1,30}_)?[0-9]{1,30}$`) // a post of a page begins with the page's

// path returns the place as a part of an address. Ids come from callers: false means that this cannot be the id of a
// node.
func (p place) path() (string, bool) {
	if p == searchPlace {
		return p.edge, true
	}
	ok := nodeID.MatchString(p.id) || (p.id == "me" && p.edge != "")
	if p.edge == "" {
		return p.id, ok
	}
	return p.id + "/" + p.edge, ok
}

// page is one page of a list.
type page[T any] struct {
	Data   []T
	Paging struct {
		Cursors struct{ After string }
		Next    string
	}
}

// after returns the cursor of the next page, or "" on the last one. The address in Next is not used, because it contains
// a token.
func (p *page[T]) after() string {
	if p.Paging.Next == "" {
		return ""
	}
	return p.Paging.Cursors.After
}

// listPage returns one page of an edge.
func listPage[T any](ctx context.Context, g *graph, token ads.Secret, at place, params url.Values, after string) ([]T, string, error) {
	params.Set("limit", strconv.Itoa(pageSize))
	params.Del("after")
	if after != "" {
		params.Set("after", after)
	}
	var p page[T]
	if err := g.get(ctx, token, at, params, &p); err != nil {
		return nil, "", err
	}
	return p.Data, p.after(), nil
}

// list returns all rows of an edge.
func list[T any](ctx context.Context, g *graph, token ads.Secret, at place, params url.Values) ([]T, error) {
	return newest[T](ctx, g, token, at, params, math.MaxInt)
}

// newest returns the first rows of an edge, page by page until there are as many as wanted, which may be a few more.
func newest[T any](ctx context.Context, g *graph, token ads.Secret, at place, params url.Values, wanted int) ([]T, error) {
	var all []T
	for after := ""; ; {
		data, next, err := listPage[T](ctx, g, token, at, params, after)
		if err != nil {
			return nil, err
		}
		all = append(all, data...)
		if next == "" || next == after || len(all) >= wanted {
			return all, nil
		}
		after = next
	}
}

// jsonText writes a value as JSON, for a parameter.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are maps, slices and texts of ours
	}
	return string(text)
}
