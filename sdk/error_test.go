package sdk

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

func TestError_HoldsTheEnvelope(t *testing.T) {
	t.Parallel()
	_, replies := scripted(answered(422, `{"error":{"type":"validation_error","code":"validation_failed","message":"status: add a price variant.",
		"param":"status","errors":{"status":["add a price variant"]}}}`, "X-Request-Id", "req_7"))
	_, err := New(testKey, replies).Products.Publish(t.Context(), "guide")
	require.Equal(t, &Error{
		Operation: "publishProduct", Status: 422, Type: "validation_error", Code: CodeValidationFailed,
		Message: "status: add a price variant.", Param: "status", Errors: map[string][]string{"status": {"add a price variant"}}, RequestID: "req_7",
	}, refusal(t, err))
	require.EqualError(t, err, "sdk: publishProduct: 422 validation_failed: status: add a price variant. (req_7)")
}

func TestError_DescribesAnAnswerThatIsNotTheAPIs(t *testing.T) {
	t.Parallel()
	for body, message := range map[string]string{
		"":                          "Not Found",
		"<html>\n  <b>Gone\xff</b>": `Not Found; the answer is not the API's: "<html> <b>Gone</b>"`,
		`"text"`:                    `Not Found; the answer is not the API's: "\"text\""`,
		`{"error":"no"}`:            `Not Found; the answer is not the API's: "{\"error\":\"no\"}"`,
		`{"error":{}}`:              `Not Found; the answer is not the API's: "{\"error\":{}}"`,
		strings.Repeat("x", 10_000): `Not Found; the answer is not the API's: "` + strings.Repeat("x", snippetLength) + `"`,
	} {
		_, replies := scripted(answered(404, body))
		_, err := New(testKey, replies).Products.Get(t.Context(), "guide")
		require.Equal(t, &Error{Operation: "getProduct", Status: 404, Message: message, RequestID: "req_1"}, refusal(t, err))
	}
}

func TestCodeOf_FindsTheCodeInAChain(t *testing.T) {
	t.Parallel()
	refused := &Error{Code: CodeForbidden}
	require.Equal(t, CodeForbidden, CodeOf(fmt.Errorf("sell: %w", refused)))
	require.Empty(t, CodeOf(errors.New("forbidden")))
	require.Empty(t, CodeOf(nil))
}
