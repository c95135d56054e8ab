package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

const headerIdempotencyKey = "Idempotency-Key"

// How long a write may take once it has begun, or once it waits for its turn. It goes on if its client hangs up.
const (
	writeDeadline    = 30 * time.Second
	externalDeadline = 55 * time.Second // below the lease of a claim, so that nobody takes it over meanwhile
)

// checkKey refuses an Idempotency-Key that is not 1 to 255 printable ASCII characters.
func checkKey(next echo.HandlerFunc) echo.HandlerFunc {
	refusal := &core.Error{
		Code: core.CodeBadRequest, Param: headerIdempotencyKey,
		Message: "Send at most one Idempotency-Key, of 1 to 255 printable ASCII characters.",
	}
	return func(c echo.Context) error {
		if values, sent := c.Request().Header[headerIdempotencyKey]; sent && (len(values) != 1 || !validKey(values[0])) {
			return refusal
		}
		return next(c)
	}
}

func validKey(key string) bool {
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return 0 < len(key) && len(key) <= 255
}

// transact runs a write in one transaction, with or without an Idempotency-Key. All that the use cases do, their events and the
// answer commit together, and only then is the answer sent. If the key has an answer already, that is sent again.
func (s *Server) transact(op *Operation) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			who := caller.Of(c.Request().Context())
			who.Writes, who.Effect = true, op.ExternalEffect
			key, err := s.keyOf(c, op)
			if err != nil {
				return err
			}
			answer, replayed, err := s.run(c, op, key, next)
			if err != nil {
				return err
			}
			if answer == nil {
				return fmt.Errorf("operation %s answered nothing", op.ID)
			}
			if replayed {
				c.Response().Header().Set("Idempotent-Replayed", "true")
				if answer.Status >= http.StatusBadRequest {
					who.Refusal = answer.Body
				}
			}
			writeJSON(c.Response(), op.Method, answer.Status, answer.Body)
			return nil
		}
	}
}

// run executes next once, and keeps its response in a buffer. It goes on when the client hangs up: otherwise
// nobody would know what was committed.
func (s *Server) run(c echo.Context, op *Operation, key *core.Key, next echo.HandlerFunc) (*core.Answer, bool, error) {
	request, response := c.Request(), c.Response()
	defer func() {
		c.SetRequest(request)
		c.SetResponse(response)
	}()
	deadline := writeDeadline
	if op.ExternalEffect {
		deadline = externalDeadline
	}
	var turn []func() (func(), error)
	if op.Each != "" {
		deadline += itemPatience
		turn = append(turn, func() (func(), error) { return s.itemTurns.wait(request.Context()) })
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request.Context()), deadline)
	defer cancel()
	line := s.lineOf(c, op)
	return s.once(ctx, key, func(ctx context.Context) (*core.Answer, error) {
		rec := &recorder{header: response.Header()}
		c.SetRequest(request.WithContext(ctx))
		c.SetResponse(echo.NewResponse(rec, s.echo))
		s.store.Activity.Watch(ctx, line.look)
		err := next(c)
		if err == nil {
			err = line.write(ctx, rec.answer())
		}
		if err != nil && core.OutcomeOf(err) == core.Recorded {
			s.refuse(c, err) // a declined charge is an answer like any other
		}
		return rec.answer(), err
	}, turn...)
}

// keyOf returns the request's Idempotency-Key, nil if there is none. A key belongs to an account. A public request has a secret
// instead of an account, and its key belongs to what the secret opens. No key that an account may send contains a line break,
// so the two never meet.
func (s *Server) keyOf(c echo.Context, op *Operation) (*core.Key, error) {
	values := c.Request().Header[headerIdempotencyKey]
	if len(values) == 0 {
		return nil, nil
	}
	fingerprint, sent, err := fingerprintOf(c)
	if err != nil {
		return nil, err
	}
	key := &core.Key{Key: values[0], Fingerprint: fingerprint, External: op.ExternalEffect, Keyless: op.Public, Sent: sent}
	if !op.Public {
		key.Account = caller.Account(c.Request().Context())
		return key, nil
	}
	if op.KeyScope != nil {
		return s.scopeKey(c, op, key)
	}
	account, object, err := s.store.Checkout.OfSecret(c.Request().Context(), c.Param("client_secret"))
	key.Account, key.Key = account, object+"\n"+values[0]
	return key, err
}

// scopeKey gives the key of a public request that has its account in its body what it belongs to. That is all that x-key-scope names, as a hash
// because there is a secret among it. For an account that does not exist, which has nothing to change, and for a form's token that is refused, there
// is no key.
func (s *Server) scopeKey(c echo.Context, op *Operation, key *core.Key) (*core.Key, error) {
	body := bodyOf(c)
	account, err := s.accountOf(c, op)
	var e *core.Error
	if errors.As(err, &e) && (e.Code == core.CodeMissing || e.Code == core.CodeInvalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	for _, field := range op.KeyScope {
		fmt.Fprintf(hash, "%q\n", fmt.Sprint(body[field]))
	}
	key.Account, key.Key = account, fmt.Sprintf("%s %x\n%s", op.resource(), hash.Sum(nil), key.Key)
	return key, nil
}

// accountOf returns the account of a public request.
func (s *Server) accountOf(c echo.Context, op *Operation) (string, error) {
	if op.KeyScope != nil {
		return s.accountNamed(c.Request().Context(), op.KeyScope[0], fmt.Sprint(bodyOf(c)[op.KeyScope[0]]))
	}
	account, _, err := s.store.Checkout.OfSecret(c.Request().Context(), c.Param("client_secret"))
	return account, err
}

// bodyOf returns the validated body of a request, which is an object.
func bodyOf(c echo.Context) map[string]any {
	body, _ := c.Request().Body.(interface{ ValidatedValue() any }).ValidatedValue().(map[string]any)
	return body
}

// accountNamed returns the account that a field of a public request names: by its id, or by the token of its form.
func (s *Server) accountNamed(ctx context.Context, field, value string) (string, error) {
	if field == "form_token" {
		return s.store.Lead.AccountOfForm(value)
	}
	account, err := s.store.Tenant.GetAccount(ctx, value)
	if err != nil {
		return "", err
	}
	return account.ID, nil
}

// fingerprintOf returns a hash that tells one request from another, and how many bytes its body has as we would write it. The hash covers the scopes
// and expiry of the caller's key, the method, the path, the sorted query and the validated body. The body is marshalled again so that neither the
// order of fields nor white space matters. What the key may do is included because an answer may show more than another key of the account may see.
// An example is the token of a new key. A public operation is the same at either of its paths.
func fingerprintOf(c echo.Context) (sum [32]byte, sent int, err error) {
	r := c.Request()
	hash := sha256.New()
	who := caller.Of(r.Context())
	scopes := slices.Sorted(slices.Values(who.Scopes))
	fmt.Fprintf(hash, "%q%s\n%s\n%s\n%s\n", scopes, who.Until, r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/v1"), c.QueryParams().Encode())
	if body, ok := r.Body.(interface{ ValidatedValue() any }); ok {
		text, err := json.Marshal(body.ValidatedValue())
		if err != nil {
			return sum, 0, fmt.Errorf("fingerprint the body: %w", err)
		}
		sent = len(text)
		_, _ = hash.Write(append(text, '\n'))
		for _, at := range slices.Sorted(maps.Keys(who.Refused)) {
			if err := json.NewEncoder(hash).Encode([]any{at, who.Refused[at].Sent}); err != nil {
				return sum, 0, fmt.Errorf("fingerprint the body: %w", err)
			}
		}
	}
	return [32]byte(hash.Sum(nil)), sent, nil
}
