package composer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/caller"
)

const (
	askTime   = 20 * time.Second // for one answer; all stay below the minute for which a request has its key
	answerMax = 1 << 20          // bytes of one
)

// newClient returns the client by which a model is reached. Its address is the operator's, which may stand in their own network,
// so that the guard of sellers' addresses is no part of it. It follows nothing: the key is for that address alone.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	return &http.Client{Transport: caller.Awaited{RoundTripper: t}, Timeout: askTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// instruction is what a model is told about pages.
const instruction = `You write the content of a small web page as JSON: {"theme": {"accent": "#rrggbb", "mode": "auto"|"light"|"dark"}, "blocks": [...]}.
Blocks by type: hero {heading, text, button {label, url}}, links {items [{label, url}]}, products {products [ids]}, faq {items [{question, answer}]},
posts {tag, limit},
lead_form {heading, text, product, consent_text}, testimonials {items [{quote, name}]}, countdown {ends_at, label}. Each has "type". Texts are plain, without HTML. Use the links and product ids of the facts alone.
Make up no facts, quotes or prices. Answer with the JSON object and nothing else.`

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// request is what a model is asked, as OpenAI's API has it.
type request struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Format   json.RawMessage `json:"response_format,omitempty"`
}

// format asks for an answer by a schema. Not every model takes it.
const format = `{"type": "json_schema", "json_schema": {"name": "page", "schema": {"type": "object", "required": ["blocks"], "properties": {
	"theme": {"type": "object"}, "blocks": {"type": "array", "maxItems": 100, "items": {"type": "object", "required": ["type"]}}}}}}`

// errRefused says that a model does not take what it was asked.
var errRefused = errors.New("the model refuses the request")

// ask returns the text that a model answers, without a schema if it takes none.
func (c *Composer) ask(ctx context.Context, f *facts) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	told, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	asked := request{Model: c.Model, Format: json.RawMessage(format), Messages: []message{
		{"system", instruction}, {"user", "Facts: " + string(told) + "\n\nThe page: " + f.prompt},
	}}
	text, err := c.post(ctx, asked)
	if errors.Is(err, errRefused) {
		asked.Format = nil
		text, err = c.post(ctx, asked)
	}
	return text, err
}

// post sends one request. No error names the key, or repeats what was answered.
func (c *Composer) post(ctx context.Context, asked request) ([]byte, error) {
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	response, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return nil, errRefused
	default:
		return nil, fmt.Errorf("the model answers %d", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, answerMax+1))
	if err != nil {
		return nil, fmt.Errorf("read the model's answer: %w", err)
	}
	if len(text) > answerMax {
		return nil, errors.New("the model's answer is too long")
	}
	var answer struct {
		Choices []struct{ Message message }
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Choices) == 0 {
		return nil, errors.New("the model's answer is no answer")
	}
	return []byte(fenced(answer.Choices[0].Message.Content)), nil
}

// fenced returns what stands between the fences of code that models like to put around JSON, the text itself if there are none.
func fenced(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		return strings.TrimSuffix(inner, "```")
	}
	return text
}
