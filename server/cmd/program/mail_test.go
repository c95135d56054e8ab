package program

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server"
)

// Letters can be read in the browser where they are written as files, and nowhere else.
func TestLetterPages_AreThereInDevelopmentAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config server.Config
		shown  bool
	}{
		{server.Config{Env: server.Development, DataDir: t.TempDir(), PublicURL: "http://127.0.0.1:8080"}, true},
		{server.Config{Env: server.Development, DataDir: t.TempDir(), PublicURL: "https://demo.example"}, false},
		{server.Config{Env: server.Production, DataDir: t.TempDir(), PublicURL: "http://127.0.0.1:8080"}, false},
		{server.Config{Env: server.Development, PublicURL: "http://127.0.0.1:8080", SMTPURL: "smtp://mail.example.org", MailFrom: "shop@example.org"}, false},
	} {
		mailer, err := newMailer(Options{Config: &c.config})
		require.NoError(t, err)
		routes, err := letterPages(mailer, c.config.PublicURL)
		require.NoError(t, err)
		assert.Equal(t, c.shown, len(routes) > 0, "%+v", c.config)
	}
}
