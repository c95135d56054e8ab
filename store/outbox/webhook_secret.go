package outbox

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// The overlap of a rotation is how long the secret before it goes on signing.
const (
	DefaultSecretOverlap = 24 * time.Hour
	MaxSecretOverlap     = 7 * 24 * time.Hour
)

// PreviousSecretAt returns until when the secret before the last rotation signs deliveries too, or nil if it does not at
// the time now.
func (e *WebhookEndpoint) PreviousSecretAt(now core.Time) *core.Time {
	if e.PreviousSecretUntil == nil || *e.PreviousSecretUntil <= now {
		return nil
	}
	return e.PreviousSecretUntil
}

// RotateWebhookSecret locks an endpoint, gives it a new Secret and returns it; the secret cannot be read again later.
// The one before goes on signing for the overlap, 0 to 168 hours, and replaces whatever an earlier rotation has left. If
// none of our keys opens the one before, it ends at once: it could not sign anything, and every delivery would wait for
// it.
func (s *Store) RotateWebhookSecret(ctx context.Context, account, ref string, overlap time.Duration) (*WebhookEndpoint, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*WebhookEndpoint, error) {
		e, err := s.lockWebhookEndpoint(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		if overlap < 0 || overlap > MaxSecretOverlap {
			return nil, core.Invalid("overlap_hours", "Send 0 to 168 hours.")
		}
		e.UpdatedAt = s.Now()
		e.SealedPreviousSecret, e.PreviousSecretUntil = nil, nil
		if overlap > 0 && s.db.Options.Sealer.Knows(e.SealedSecret) {
			e.SealedPreviousSecret, e.PreviousSecretUntil = e.SealedSecret, new(e.UpdatedAt.Add(overlap))
		}
		s.renewSecret(e)
		return e, u.Update(ctx, webhookEndpointColumns, e)
	})
}

// OpenWebhookSecrets returns the secrets that sign an endpoint's deliveries: its own, and the one before the last
// rotation. The second is empty if there is none or its time is over.
//
// It is also empty if its key is not among ours. The new secret signs the delivery correctly all the same; only the
// overlap is shorter. To leave such deliveries to a replica that has the key would stop the webhooks for the whole
// overlap if none has it. A receiver that knows only the secret before refuses what we send, and it is tried again later
// by whichever replica.
func (s *Store) OpenWebhookSecrets(e *WebhookEndpoint) (secret, previous string, err error) {
	if secret, err = s.openSecret(e, e.SealedSecret); err == nil && e.PreviousSecretAt(s.Now()) != nil && s.db.Options.Sealer.Knows(e.SealedPreviousSecret) {
		previous, err = s.openSecret(e, e.SealedPreviousSecret)
	}
	return secret, previous, err
}

// openSecret opens a sealed secret of an endpoint.
func (s *Store) openSecret(e *WebhookEndpoint, sealed []byte) (string, error) {
	secret, err := s.db.Options.Sealer.Open(sealed, e.secretContext())
	if err != nil {
		return "", fmt.Errorf("secret of %s: %w", e.ID, err)
	}
	return string(secret), nil
}

// renewSecret gives the endpoint a new Secret, and seals it for the database.
func (s *Store) renewSecret(e *WebhookEndpoint) {
	e.Secret = newWebhookSecret()
	e.SealedSecret = s.db.Options.Sealer.Seal([]byte(e.Secret), e.secretContext())
}

// newWebhookSecret returns 32 random bytes in a form that also serves Standard Webhooks libraries.
func newWebhookSecret() string {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(key[:])
}

// secretContext ties a sealed secret to its endpoint.
func (e *WebhookEndpoint) secretContext() string { return e.AccountID + "/" + e.ID }
