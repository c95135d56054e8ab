package domains

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// ProbePath is where the server answers the questions of its own replicas. The question is a nonce behind it.
const ProbePath = "/.well-known/tillwright-site/"

// probe asks a domain by https for what only this server knows, and returns why that failed, "" if it did not.
func (s *Service) probe(ctx context.Context, domain string) string {
	const missed = "The domain is yours. There is no https connection to this server by it yet: "
	nonce := core.NewULID()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+domain+ProbePath+nonce, nil)
	if err != nil {
		return missed + "its name cannot be asked for."
	}
	response, err := s.Client.Do(request)
	if err != nil {
		return missed + "it cannot be reached with a valid certificate."
	}
	defer response.Body.Close()
	const enough = 128
	text, err := io.ReadAll(io.LimitReader(response.Body, enough))
	if err != nil || response.StatusCode != http.StatusOK || strings.TrimSpace(string(text)) != s.Store.AnswerProbe(nonce) {
		return missed + "another server answers."
	}
	return ""
}

// AnswerProbe returns the answer to a question at ProbePath, false for what is none.
func (s *Service) AnswerProbe(nonce string) (string, bool) {
	if len(nonce) != core.IDLength || strings.Trim(nonce, core.IDAlphabet) != "" {
		return "", false
	}
	return s.Store.AnswerProbe(nonce), true
}
