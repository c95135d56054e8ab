package sdktest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/tillwright/tillwright/sdk"
)

const headerKey = "Idempotency-Key"

// checkKey refuses an Idempotency-Key that is not 1 to 255 printable ASCII characters.
func checkKey(r *http.Request) error {
	values, sent := r.Header[headerKey]
	if !sent || r.Method == http.MethodGet {
		return nil
	}
	ok := len(values) == 1 && len(values[0]) > 0 && len(values[0]) <= 255
	for i := 0; ok && i < len(values[0]); i++ {
		ok = values[0][i] >= ' ' && values[0][i] <= '~'
	}
	if !ok {
		return refuse(http.StatusBadRequest, headerKey, "Send at most one Idempotency-Key, of 1 to 255 printable ASCII characters.")
	}
	return nil
}

// once does a write, unless there is an answer under its Idempotency-Key: then it returns that. What was refused leaves the key free, unless
// it is recorded.
func (s *Server) once(c *call, do func() (*answer, error)) (*answer, error) {
	key := c.request.Header.Get(headerKey)
	if key == "" || c.request.Method == http.MethodGet {
		return do()
	}
	key = c.values["client_secret"] + "\n" + key
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n%s\n%s", c.request.Method, c.request.URL.EscapedPath(), c.request.URL.Query().Encode(), encode(c.body))
	fingerprint := hex.EncodeToString(hash.Sum(nil))
	if stored := s.answers[key]; stored != nil && stored.fingerprint != fingerprint {
		refused := refuse(http.StatusUnprocessableEntity, "idempotency_key", "This Idempotency-Key was used for another request. Send another key.")
		refused.Code = sdk.CodeKeyReused
		return nil, refused
	} else if stored != nil {
		again := *stored
		again.header = map[string]string{"Idempotent-Replayed": "true"}
		maps.Copy(again.header, stored.header)
		return &again, nil
	}
	a, err := do()
	if r, ok := errors.AsType[*recorded](err); ok {
		a, err = r.answer(), nil
	}
	if err == nil {
		a.fingerprint = fingerprint
		s.answers[key] = a
	}
	return a, err
}
