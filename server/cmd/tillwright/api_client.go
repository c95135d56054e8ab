package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

// apiFlags say which server a command talks to, and with which key.
type apiFlags struct {
	url, key string
	resource string // of the scopes that its key needs
}

// apiClient is a client of the API that can explain errors to somebody at a terminal.
type apiClient struct {
	*sdk.Client
	url      string
	resource string // of the scopes that its key needs
}

// clientCommand gives a command the flags of a client, and a help without the settings of a server, which it does not use.
// Resource names the scopes that its key needs.
func clientCommand(cmd *cobra.Command, resource string) *apiFlags {
	a := &apiFlags{resource: resource}
	cmd.Flags().StringVar(&a.url, "api-url", "", "base URL of the API (default $TILLWRIGHT_BASE_URL or "+sdk.DefaultBaseURL+")")
	cmd.Flags().StringVar(&a.key, "api-key", "", "API key with the "+scopesOf(resource)+" (default $TILLWRIGHT_API_KEY, which others on this machine cannot see)")
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprintf(cmd.OutOrStderr(), "Usage:\n  %s\n\nExample:\n%s\n\nFlags:\n%s", cmd.UseLine(), cmd.Example, cmd.LocalFlags().FlagUsages())
		return err
	})
	return a
}

func scopesOf(resource string) string {
	if resource == "ad_limits" { // to read them takes no scope of its own
		return "scopes ads:read and ad_limits:write"
	}
	return fmt.Sprintf("scopes %[1]s:read and %[1]s:write", resource)
}

// client returns a client, after it has checked all that can be checked without sending anything. It gives up early, because
// somebody waits, unless options say otherwise.
func (a *apiFlags) client(options ...sdk.ClientOption) (*apiClient, error) {
	key := cmp.Or(a.key, os.Getenv("TILLWRIGHT_API_KEY"))
	if key == "" {
		return nil, errors.New("which API key? Set TILLWRIGHT_API_KEY, or pass --api-key; `tillwright keys create` makes one")
	}
	u, err := parseHTTP("api-url", cmp.Or(a.url, os.Getenv("TILLWRIGHT_BASE_URL"), sdk.DefaultBaseURL))
	if err != nil {
		return nil, err
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	options = append([]sdk.ClientOption{
		sdk.WithBaseURL(u.String()), sdk.WithUserAgent("tillwright/" + version()), sdk.WithRetries(1), sdk.WithTimeout(15 * time.Second),
	}, options...)
	return &apiClient{sdk.New(key, options...), u.String(), a.resource}, nil
}

// parseHTTP reads a flag that is an HTTP address. Without a scheme it is taken for http.
func parseHTTP(flag, raw string) (*url.URL, error) {
	full := raw
	if !strings.Contains(raw, "://") {
		full = "http://" + raw
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--%s must be an http:// or https:// address, not %q", flag, raw)
	}
	return u, nil
}

// explain returns what a failed call means, in words for somebody at a terminal.
func (c *apiClient) explain(err error) error {
	refusal, refused := errors.AsType[*sdk.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	case !refused:
		return fmt.Errorf("no answer from %s: %w. Is `tillwright serve` running there?", c.url, err)
	case refusal.Code == sdk.CodeAuthentication:
		return fmt.Errorf("the server at %s does not know this API key: `tillwright keys create` makes another", c.url)
	case refusal.Code == sdk.CodeForbidden:
		return fmt.Errorf("the API key needs the %s: %s", scopesOf(c.resource), refusal.Message)
	case len(refusal.Errors) > 0:
		return err
	}
	return fmt.Errorf("%s (%s)", refusal.Message, refusal.RequestID)
}
