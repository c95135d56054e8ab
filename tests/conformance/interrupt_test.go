package conformance_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A run that is interrupted takes away what it made, and calls nothing kept that it did not look at.
func TestCheck_TidiesUpWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	c := s.Account(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	walked := false
	report, err := conformance.Check(ctx, conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, Only: []string{"pages", "idempotency"}, Transport: from(t, 0), Progress: func(line string) {
		if walked = walked || strings.HasSuffix(line, ": walks"); walked {
			interrupt()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, walked)
	outcomes := map[string]conformance.Outcome{}
	for _, r := range report.Promises {
		outcomes[r.Name] = r.Outcome
	}
	for _, name := range []string{"walks", "thirty-callers", "document", "envelope"} {
		assert.Equal(t, conformance.OutcomeNotChecked, outcomes[name], name)
	}
	assert.Empty(t, names(report.Broken()))
	assert.Empty(t, left(t, s, c), report.Notes)
}

// What is being made at an interrupt is waited for, and taken away. What nobody knows of, because its answer was lost
// or is that of a proxy, is named.
func TestCheck_KnowsWhatIsUnderWayWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	for number, how := range []string{"", "not answered", "answered 504"} {
		c := s.Account(t)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		under := &underway{base: from(t, number), how: how, interrupt: interrupt}
		report, err := conformance.Check(ctx, conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, Only: []string{"replay", "customers"}, Transport: under, Progress: func(line string) {
			under.begun = under.begun || strings.HasPrefix(line, "1 of ")
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, under.met)
		if how != "" {
			require.Regexp(t, `POST /v1/customers was `+how+`, and may have made what it sent: \{.*@example.com`, strings.Join(report.Notes, "\n"))
		} else {
			require.Empty(t, left(t, s, c), report.Notes)
		}
	}
}

// underway sends requests, and interrupts the run while a check makes its first customer.
type underway struct {
	base       http.RoundTripper
	how        string // the request's answer is lost, or another one, "" for neither
	begun, met bool
	interrupt  func()
}

// RoundTrip implements http.RoundTripper.
func (u *underway) RoundTrip(req *http.Request) (*http.Response, error) {
	if !u.begun || u.met || req.Method != http.MethodPost || req.URL.Path != "/v1/customers" {
		return u.base.RoundTrip(req)
	}
	u.met = true
	u.interrupt()
	resp, err := u.base.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
	if err == nil && u.how == "answered 504" {
		resp.StatusCode = http.StatusGatewayTimeout
	} else if err == nil && (u.how != "" || req.Context().Err() != nil) {
		_ = resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return resp, err
}
