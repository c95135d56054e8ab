package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
)

// PendingEndpoint is an endpoint that something waits for.
type PendingEndpoint struct {
	AccountID  string        `db:"account_id" json:"account"`
	EndpointID string        `db:"endpoint_id" json:"endpoint"`
	Format     WebhookFormat `db:"format" json:"-"`
}

// DeliveryClaim asks for at most Limit deliveries of one endpoint, and for no more than make AtMost with those that
// other replicas are sending to it.
type DeliveryClaim struct {
	PendingEndpoint
	Limit  int `json:"-"`
	AtMost int `json:"-"`
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
// It costs three index probes per endpoint, however many deliveries wait, and locks nothing. Format is raw for an
// endpoint that is gone.
func (s *Store) PendingEndpoints(ctx context.Context, after string, limit int) ([]PendingEndpoint, error) {
	rows, err := selectAll[PendingEndpoint](ctx, s, `
		WITH RECURSIVE pending (endpoint_id) AS (
			SELECT min(endpoint_id) FROM webhook_deliveries WHERE state = 'pending' AND endpoint_id > ?
			UNION ALL
			SELECT (SELECT min(d.endpoint_id) FROM webhook_deliveries AS d WHERE d.state = 'pending' AND d.endpoint_id > p.endpoint_id)
			FROM pending AS p WHERE p.endpoint_id IS NOT NULL
		), page AS (SELECT endpoint_id FROM pending WHERE endpoint_id IS NOT NULL LIMIT ? + 0)
		SELECT owned.account_id, owned.endpoint_id, COALESCE((
			SELECT e.format FROM webhook_endpoints AS e WHERE e.account_id = owned.account_id AND e.id = owned.endpoint_id), 'raw') AS format
		FROM (
			SELECT endpoint_id, (
				SELECT d.account_id FROM webhook_deliveries AS d WHERE d.state = 'pending' AND d.endpoint_id = page.endpoint_id
				ORDER BY d.account_id LIMIT 1) AS account_id
			FROM page) AS owned`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("find pending endpoints: %w", err)
	}
	// A row whose last pending delivery was claimed between the two probes has no account.
	return slices.DeleteFunc(rows, func(r PendingEndpoint) bool { return r.AccountID == "" }), nil
}

// claimDeliveries goes through the endpoints in one order everywhere, so that two dispatchers cannot wait for each
// other.
func (u *unit) claimDeliveries(ctx context.Context, claims []DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	slices.SortFunc(claims, func(a, b DeliveryClaim) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.EndpointID, b.EndpointID))
	})
	endpoints, err := u.endpointsOf(ctx, claims)
	if err != nil {
		return nil, fmt.Errorf("read endpoints of deliveries: %w", err)
	}
	active := make([]DeliveryClaim, 0, len(claims))
	for _, claim := range claims {
		if e := endpoints[claim.EndpointID]; e != nil && e.Status == WebhookEndpointActive {
			active = append(active, claim)
		} else if err := u.failPending(ctx, claim.AccountID, claim.EndpointID, 1000); err != nil {
			return nil, err
		}
	}
	claimed, err := u.claimActive(ctx, active, lease)
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	for i := range claimed {
		claimed[i].Endpoint = endpoints[claimed[i].EndpointID]
	}
	return claimed, nil
}

// endpointsOf returns the endpoints of the claims that exist, by id.
func (u *unit) endpointsOf(ctx context.Context, claims []DeliveryClaim) (map[string]*WebhookEndpoint, error) {
	rows, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	found, err := selectAll[WebhookEndpoint](ctx, u.store, webhookEndpointColumns.selectSQL+`
		JOIN (SELECT value ->> 'account' AS account, value ->> 'endpoint' AS endpoint FROM `+u.store.jsonRows()+`) AS claims
		ON account_id = claims.account AND id = claims.endpoint`, string(rows))
	endpoints := make(map[string]*WebhookEndpoint, len(found))
	for i := range found {
		endpoints[found[i].ID] = &found[i]
	}
	return endpoints, err
}

// claimActive asks PostgreSQL once for all endpoints. SQLite, which cannot limit each part of a join, is asked for
// one after the other: there a statement is a function call.
func (u *unit) claimActive(ctx context.Context, claims []DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	if len(claims) == 0 || u.store.engine != SQLite {
		return u.claimOfAll(ctx, claims, lease)
	}
	var all []ClaimedDelivery
	for _, claim := range claims {
		claimed, err := u.claimOfOne(ctx, claim, lease)
		if err != nil {
			return nil, err
		}
		all = append(all, claimed...)
	}
	return all, nil
}

// What both engines do with the deliveries that were picked. The guard on state decides between two dispatchers.
const (
	setSending = `state = 'sending', lease_token = ?, attempts = attempts + 1, updated_at = ?`

	returnSending = `RETURNING account_id, id, endpoint_id, event_id, attempts, lease_token, (
			SELECT e.body FROM events AS e
			WHERE e.account_id = webhook_deliveries.account_id AND e.id = webhook_deliveries.event_id) AS body`
)

// claimOfOne claims the earliest delivery of each ordering key that the window shows. A redelivered one is the earliest
// of its key and has a later id than those that wait for it: it is claimed wherever it is. SQLite would compile the statement anew for every
// value of a bare LIMIT ?. Nobody else sends from an embedded database, so that AtMost does not come into it.
func (u *unit) claimOfOne(ctx context.Context, c DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	return selectAll[ClaimedDelivery](ctx, u.store, `
		WITH due AS MATERIALIZED (
			SELECT first AS due_id FROM (
				SELECT id, (
					SELECT e.id FROM webhook_deliveries AS e
					WHERE e.account_id = ? AND e.endpoint_id = ? AND e.ordering_key = oldest.ordering_key AND e.finished_at IS NULL
					ORDER BY e.key_seq, e.id LIMIT 1) AS first
				FROM (
					SELECT id, ordering_key FROM webhook_deliveries
					WHERE account_id = ? AND endpoint_id = ? AND state = 'pending' ORDER BY id LIMIT ? + 0) AS oldest)
			WHERE first >= id
			LIMIT ? + 0
		)
		UPDATE webhook_deliveries SET `+setSending+`, lease_until = `+u.store.dbNow()+` + ?
		FROM due WHERE account_id = ? AND id = due_id AND state = 'pending' `+returnSending,
		c.AccountID, c.EndpointID, c.AccountID, c.EndpointID, claimWindow, c.Limit,
		newULID(), u.store.Now(), lease.Microseconds(), c.AccountID)
}

// claimOfAll is claimOfOne for many endpoints in one statement. The lock only spares two dispatchers to wait for one
// another. The parts are materialised, because PostgreSQL would otherwise evaluate them anew for every row; and what
// is pending is told by what it is not, because the index of pending rows, empty when it was last analysed, would
// look cheaper than the primary key, and be read from end to end when there is a backlog.
func (u *unit) claimOfAll(ctx context.Context, claims []DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	accounts, endpoints := make([]string, len(claims)), make([]string, len(claims))
	rooms, bounds := make([]int64, len(claims)), make([]int64, len(claims))
	for i, c := range claims {
		accounts[i], endpoints[i], rooms[i], bounds[i] = c.AccountID, c.EndpointID, int64(c.Limit), int64(c.AtMost)
	}
	return selectAll[ClaimedDelivery](ctx, u.store, `
		WITH due AS MATERIALIZED (
			SELECT claims.account, first.id
			FROM unnest(CAST(? AS text[]), CAST(? AS text[]), CAST(? AS bigint[]), CAST(? AS bigint[])) AS claims (account, endpoint, room, bound)
			CROSS JOIN LATERAL (
				SELECT first AS id FROM (
					SELECT id, (
						SELECT e.id FROM webhook_deliveries AS e
						WHERE e.account_id = claims.account AND e.endpoint_id = claims.endpoint
							AND e.ordering_key = oldest.ordering_key AND e.finished_at IS NULL
						ORDER BY e.key_seq, e.id LIMIT 1) AS first
					FROM (
						SELECT id, ordering_key FROM webhook_deliveries
						WHERE account_id = claims.account AND endpoint_id = claims.endpoint AND state = 'pending'
						ORDER BY id LIMIT ?) AS oldest) AS keys
				WHERE first >= id
				LIMIT GREATEST(0, LEAST(claims.room, claims.bound - (
					SELECT count(*) FROM webhook_deliveries AS busy
					WHERE busy.account_id = claims.account AND busy.endpoint_id = claims.endpoint AND busy.state = 'sending')))) AS first
		), picked AS MATERIALIZED (
			SELECT d.account_id AS picked_account, d.id AS picked_id FROM due
			JOIN webhook_deliveries AS d ON d.account_id = due.account AND d.id = due.id
			WHERE d.state NOT IN ('sending', 'succeeded', 'failed') FOR UPDATE OF d SKIP LOCKED
		)
		UPDATE webhook_deliveries SET `+setSending+`, lease_until = `+u.store.dbNow()+` + ?
		FROM picked WHERE account_id = picked_account AND id = picked_id AND state NOT IN ('sending', 'succeeded', 'failed') `+returnSending,
		pq.Array(accounts), pq.Array(endpoints), pq.Array(rooms), pq.Array(bounds), claimWindow, newULID(), u.store.Now(), lease.Microseconds())
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
