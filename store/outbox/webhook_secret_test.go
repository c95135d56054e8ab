package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestWebhookSecret_IsSealedAtRestForItsEndpoint(t *testing.T) {
	eachOutbox(t, func(t *testing.T, s *outbox) {
		e, err := s.CreateWebhookEndpoint(t.Context(), s.account, WebhookEndpoint{URL: "https://example.com/"})
		require.NoError(t, err)
		stored, err := s.GetWebhookEndpoint(t.Context(), s.account, e.ID)
		require.NoError(t, err)
		require.Empty(t, stored.Secret)
		require.NotContains(t, string(stored.SealedSecret), e.Secret[len("whsec_"):])
		secret, previous, err := s.OpenWebhookSecrets(stored)
		require.NoError(t, err)
		require.Equal(t, e.Secret, secret)
		require.Empty(t, previous)
		stored.ID = core.NewID(core.KindWebhookEndpoint)
		_, _, err = s.OpenWebhookSecrets(stored)
		require.ErrorIs(t, err, core.ErrSealed, "a sealed secret is of no use in another row")
	})
}

func TestRotateWebhookSecret_SignsWithBothForTheOverlap(t *testing.T) {
	eachOutbox(t, func(t *testing.T, s *outbox) {
		first, err := s.CreateWebhookEndpoint(t.Context(), s.account, WebhookEndpoint{URL: "https://example.com/"})
		require.NoError(t, err)
		now := time.Now()
		s.db.Options.Now = func() time.Time { return now }
		rotate := func(overlap time.Duration) *WebhookEndpoint {
			e, err := s.RotateWebhookSecret(t.Context(), s.account, first.ID, overlap)
			require.NoError(t, err)
			return e
		}
		requireSecrets := func(secret, previous string) {
			t.Helper()
			stored, err := s.GetWebhookEndpoint(t.Context(), s.account, first.ID)
			require.NoError(t, err)
			gotSecret, gotPrevious, err := s.OpenWebhookSecrets(stored)
			require.NoError(t, err)
			require.Equal(t, []string{secret, previous}, []string{gotSecret, gotPrevious})
			require.Equal(t, previous != "", stored.PreviousSecretAt(s.Now()) != nil)
		}
		second := rotate(24 * time.Hour)
		require.NotEqual(t, first.Secret, second.Secret)
		requireSecrets(second.Secret, first.Secret)
		third := rotate(time.Hour)
		requireSecrets(third.Secret, second.Secret)
		now = now.Add(time.Hour - time.Millisecond)
		requireSecrets(third.Secret, second.Secret)
		now = now.Add(time.Millisecond)
		requireSecrets(third.Secret, "")
		rotate(24 * time.Hour)
		fifth := rotate(0)
		requireSecrets(fifth.Secret, "")
	})
}

func TestRotateWebhookSecret_RefusesAnOverlapOutOfBounds(t *testing.T) {
	eachOutbox(t, func(t *testing.T, s *outbox) {
		e, err := s.CreateWebhookEndpoint(t.Context(), s.account, WebhookEndpoint{URL: "https://example.com/"})
		require.NoError(t, err)
		for _, overlap := range []time.Duration{-time.Hour, 169 * time.Hour} {
			_, err := s.RotateWebhookSecret(t.Context(), s.account, e.ID, overlap)
			dbtest.RequireInvalid(t, err, "overlap_hours")
		}
		_, err = s.RotateWebhookSecret(t.Context(), core.NewID(core.KindAccount), e.ID, time.Hour)
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}
