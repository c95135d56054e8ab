package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// runConformance runs the command and returns what it prints and what it says on failure.
func runConformance(t *testing.T, args ...string) (string, string) {
	t.Helper()
	out, err := tillwright(t, t.TempDir(), append([]string{"conformance"}, args...)...)
	if err != nil {
		return out, explain(err)
	}
	return out, ""
}

func TestConformance_SaysWhichPromiseIsBroken(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		account, other := s.Account(t), s.Account(t)
		report := filepath.Join(t.TempDir(), "report.xml")
		out, failure := runConformance(t, "--base-url", s.URL+"/v1", "--key", account.Key, "--second-key", other.Key, "--only", "customers", "--junit", report)
		require.Empty(t, failure, out)
		require.Regexp(t, `(?m)^kept +isolation +Requests are scoped to the authenticated account`, out)
		require.NotContains(t, out, "BROKEN")
		text, err := os.ReadFile(report)
		require.NoError(t, err)
		require.Contains(t, string(text), `<testcase classname="conformance" name="isolation">`)
		require.Contains(t, string(text), `failures="0"`)

		at, err := url.Parse(s.URL)
		require.NoError(t, err)
		proxy := httputil.NewSingleHostReverseProxy(at)
		proxy.ModifyResponse = func(resp *http.Response) error {
			resp.Header.Del("X-Content-Type-Options")
			return nil
		}
		broken := httptest.NewServer(proxy)
		t.Cleanup(broken.Close)
		through := []string{"--base-url", broken.URL, "--key", s.Key(t, account.Account), "--only", "routes", "--read-only"}
		out, failure = runConformance(t, through...)
		require.Regexp(t, `^1 of \d+ promises are broken$`, failure)
		require.Contains(t, out, "BROKEN: nosniff\nEvery response has X-Content-Type-Options: nosniff.")
		require.Contains(t, out, "  > GET /v1/nothing\n  > Authorization: Bearer (hidden)\n")
		require.Contains(t, out, "  < 404 Not Found\n")
		_, failure = runConformance(t, append(through, "--junit", report)...)
		require.NotEmpty(t, failure)
		text, err = os.ReadFile(report)
		require.NoError(t, err)
		require.Contains(t, string(text), `<failure message="Every response has X-Content-Type-Options: nosniff.">`)

		out, failure = runConformance(t, append(through, "--json")...)
		require.NotEmpty(t, failure)
		var read struct {
			Promises []struct {
				Name, Outcome, Sentence string
				Broken                  []struct{ Operation, Message, Request, Answer string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out), &read))
		for _, p := range read.Promises {
			require.Equal(t, p.Name == "nosniff", p.Outcome == "broken", p.Name)
			require.Equal(t, p.Name == "nosniff", len(p.Broken) > 0, p.Name)
		}
	})
}

func TestConformance_SaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	for args, why := range map[[2]string]string{
		{"--base-url", "http://127.0.0.1:1"}:                 "which API key? Set TILLWRIGHT_API_KEY, or pass --key; `tillwright keys create` makes one",
		{"--key=sk_x", "--base-url=http://127.0.0.1:1/shop"}: `--base-url must be https://host/v1, not "http://127.0.0.1:1/shop"`,
		{"--key=sk_x", "--base-url=ftp://127.0.0.1"}:         `--base-url must be an http:// or https:// address, not "ftp://127.0.0.1"`,
	} {
		_, failure := runConformance(t, args[0], args[1])
		require.Equal(t, why, failure)
	}
	_, failure := runConformance(t, "--key", "sk_x", "--base-url", "http://127.0.0.1:1")
	require.Contains(t, failure, "no answer from http://127.0.0.1:1")
}
