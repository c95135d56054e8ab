package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// PendingEndpoint is an endpoint that something waits for.
type PendingEndpoint struct {
	AccountID  string `db:"account_id"`
	EndpointID string `db:"endpoint_id"`
}

// DeliveryClaim asks for at most Limit deliveries of one endpoint.
type DeliveryClaim struct {
	PendingEndpoint
	Limit int
}

// ClaimedDelivery is a delivery to be sent now, together with all that sending needs.
type ClaimedDelivery struct {
	AccountID  string `db:"account_id"`
	ID         string `db:"id"`
	EndpointID string `db:"endpoint_id"`
	EventID    string `db:"event_id"`
	Attempt    int    `db:"attempts"`
	Body       string `db:"body"`
	Lease      string `db:"lease_token"`
	Endpoint   *WebhookEndpoint
}

// maxAttempts is how often a delivery is sent without a result before it is given up: something about it breaks
// its sender.
const maxAttempts = 5

// claimWindow is how many of an endpoint's oldest pending deliveries a claim looks at. Without it, thousands of
// deliveries with one ordering key would be read at every claim, to take the first.
const claimWindow = 100

// PendingEndpoints returns at most limit endpoints with pending deliveries, by id, that come after the given one.
// It costs two index probes per endpoint, however many deliveries wait, and locks nothing.
func (s *Store) PendingEndpoints(ctx context.Context, after string, limit int) ([]PendingEndpoint, error) {
	rows, err := selectAll[PendingEndpoint](ctx, s, `
		WITH RECURSIVE pending (endpoint_id) AS (
			SELECT min(endpoint_id) FROM webhook_deliveries WHERE state = 'pending' AND endpoint_id > ?
			UNION ALL
			SELECT (SELECT min(d.endpoint_id) FROM webhook_deliveries AS d WHERE d.state = 'pending' AND d.endpoint_id > p.endpoint_id)
			FROM pending AS p WHERE p.endpoint_id IS NOT NULL
		), page AS (SELECT endpoint_id FROM pending WHERE endpoint_id IS NOT NULL LIMIT ?)
		SELECT endpoint_id, (
			SELECT d.account_id FROM webhook_deliveries AS d WHERE d.state = 'pending' AND d.endpoint_id = page.endpoint_id
			ORDER BY d.account_id LIMIT 1) AS account_id
		FROM page`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("find pending endpoints: %w", err)
	}
	// A row whose last pending delivery was claimed between the two probes has no account.
	return slices.DeleteFunc(rows, func(r PendingEndpoint) bool { return r.AccountID == "" }), nil
}

// claimDeliveries goes through the endpoints in one order everywhere, so that two dispatchers cannot wait for each
// other.
func (u *unit) claimDeliveries(ctx context.Context, claims []DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	slices.SortFunc(claims, func(a, b DeliveryClaim) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.EndpointID, b.EndpointID))
	})
	var all []ClaimedDelivery
	for _, claim := range claims {
		endpoint, err := get[WebhookEndpoint](ctx, u.store, webhookEndpointColumns.selectSQL+` WHERE account_id = ? AND id = ?`, claim.AccountID, claim.EndpointID)
		if err != nil {
			return nil, fmt.Errorf("read endpoint of deliveries: %w", err)
		}
		if endpoint == nil || endpoint.Status != WebhookEndpointActive {
			if err := u.failPending(ctx, claim.AccountID, claim.EndpointID, 1000); err != nil {
				return nil, err
			}
			continue
		}
		claimed, err := u.claimOf(ctx, claim, lease)
		if err != nil {
			return nil, fmt.Errorf("claim deliveries: %w", err)
		}
		for i := range claimed {
			claimed[i].Endpoint = endpoint
		}
		all = append(all, claimed...)
	}
	return all, nil
}

// claimOf claims deliveries of one active endpoint. The guard on state decides between two dispatchers; the lock
// only spares them to wait for one another. Each part is materialised, because PostgreSQL would otherwise evaluate
// the inner ones anew for every row of the outer.
func (u *unit) claimOf(ctx context.Context, claim DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	account, endpoint := claim.AccountID, claim.EndpointID
	return selectAll[ClaimedDelivery](ctx, u.store, `
		WITH oldest AS MATERIALIZED (
			SELECT id, ordering_key FROM webhook_deliveries
			WHERE account_id = ? AND endpoint_id = ? AND state = 'pending' ORDER BY created_at, id LIMIT ?
		), due AS MATERIALIZED (
			SELECT id FROM oldest WHERE id = (
				SELECT e.id FROM webhook_deliveries AS e
				WHERE e.account_id = ? AND e.endpoint_id = ? AND e.ordering_key = oldest.ordering_key AND e.state IN ('pending', 'sending')
				ORDER BY e.key_seq, e.id LIMIT 1)
			LIMIT ?
		), picked AS MATERIALIZED (
			SELECT id AS picked_id FROM webhook_deliveries
			WHERE account_id = ? AND id IN (SELECT id FROM due) AND state = 'pending'`+u.lockSkip()+`
		)
		UPDATE webhook_deliveries SET
			state = 'sending', lease_token = ?, lease_until = `+u.store.dbNow()+` + ?, attempts = attempts + 1, updated_at = ?
		FROM picked WHERE account_id = ? AND id = picked_id AND state = 'pending'
		RETURNING account_id, id, endpoint_id, event_id, attempts, lease_token, (
			SELECT e.body FROM events AS e
			WHERE e.account_id = webhook_deliveries.account_id AND e.id = webhook_deliveries.event_id) AS body`,
		account, endpoint, claimWindow, account, endpoint, claim.Limit, account, newULID(), lease.Microseconds(), u.store.Now(), account)
}

type deliveryRef struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
	EventID   string `db:"event_id"`
}

// ReleaseExpiredDeliveries makes deliveries whose sender never recorded a result pending again, and returns how
// many. One that was sent that way five times ends as failed, aborted.
func (s *Store) ReleaseExpiredDeliveries(ctx context.Context) (int64, error) {
	expired, err := selectAll[deliveryRef](ctx, s, `
		SELECT account_id, id, event_id FROM webhook_deliveries
		WHERE state = 'sending' AND lease_until < `+s.dbNow()+` ORDER BY lease_until LIMIT 1000`)
	if err != nil || len(expired) == 0 {
		return 0, err
	}
	var released int64
	var errs []error
	for account, refs := range byAccount(expired) {
		rows, err := s.releaseExpired(ctx, account, refs)
		released += rows
		errs = append(errs, err)
	}
	return released, errors.Join(errs...)
}

func (s *Store) releaseExpired(ctx context.Context, account string, refs []deliveryRef) (int64, error) {
	condition, ids := s.in("id", idsOf(refs))
	return tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		now := s.Now()
		return u.exec(ctx, `
			UPDATE webhook_deliveries SET
				state = CASE WHEN attempts < ? THEN 'pending' ELSE 'failed' END,
				reason = CASE WHEN attempts < ? THEN NULL ELSE 'aborted' END,
				finished_at = CASE WHEN attempts < ? THEN NULL ELSE CAST(? AS BIGINT) END,
				lease_token = NULL, lease_until = NULL, updated_at = ?
			WHERE account_id = ? AND `+condition+` AND state = 'sending' AND lease_until < `+s.dbNow(),
			maxAttempts, maxAttempts, maxAttempts, now, now, account, ids)
	})
}

// byAccount groups what a scan over all accounts has found, because every statement that writes is about one.
func byAccount(refs []deliveryRef) map[string][]deliveryRef {
	groups := map[string][]deliveryRef{}
	for _, ref := range refs {
		groups[ref.AccountID] = append(groups[ref.AccountID], ref)
	}
	return groups
}

func idsOf(refs []deliveryRef) []string {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return ids
}
