package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lib/pq"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// PendingEndpoint is an endpoint that deliveries wait for.
type PendingEndpoint struct {
	AccountID  string        `db:"account_id" json:"account"`
	EndpointID string        `db:"endpoint_id" json:"endpoint"`
	Format     WebhookFormat `db:"format" json:"-"`
}

// DeliveryClaim asks for at most Limit deliveries of one endpoint. All replicas together must not be sending more than
// AtMost to it.
type DeliveryClaim struct {
	PendingEndpoint
	Limit  int `json:"-"`
	AtMost int `json:"-"`
}

// ClaimedDelivery is a delivery that the caller has to send now, together with all that it needs for that.
type ClaimedDelivery struct {
	AccountID  string `db:"account_id"`
	ID         string `db:"id"`
	EndpointID string `db:"endpoint_id"`
	EventID    string `db:"event_id"`
	Attempt    int    `db:"attempt"`
	Body       string `db:"body"`
	Lease      string
	Endpoint   *WebhookEndpoint
}

// claimKey names a claim on a delivery. Lease is a new token for each claim. So the late result of an earlier attempt is not taken
// for that of a later one.
type claimKey struct {
	AccountID  string `db:"account_id" json:"account"`
	EndpointID string `db:"endpoint_id" json:"endpoint"`
	DeliveryID string `db:"delivery_id" json:"id"`
	Lease      string `db:"lease_token" json:"lease"`
}

// maxAttempts is how often a delivery may be sent without anybody learning the result. Then it is given up, because
// something about it seems to break its sender. That is no proof. A sender that is killed again and again for another reason takes the oldest
// deliveries with it each time, some before it has sent them. Five were too few for that.
const maxAttempts = 10

// claimWindow is how many of an endpoint's oldest pending deliveries a claim looks at. Without it, every claim would
// read thousands of deliveries with the same ordering key only to take the first.
const claimWindow = 100

// PendingEndpoints returns at most limit endpoints that have a delivery to send which nobody is sending, in the order of
// their ids, beginning behind `after`. Endpoints of disabled accounts are left out. The format of an endpoint that was
// deleted is raw. The query costs a few index probes per endpoint, however many deliveries wait, and locks nothing.
func (s *Store) PendingEndpoints(ctx context.Context, after string, limit int) ([]PendingEndpoint, error) {
	rows, err := db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]PendingEndpoint, error) {
		return db.Select[PendingEndpoint](ctx, r, `
		WITH RECURSIVE pending (endpoint_id) AS (
			SELECT min(endpoint_id) FROM webhook_deliveries WHERE state = 'pending' AND endpoint_id > ?
			UNION ALL
			SELECT (SELECT min(d.endpoint_id) FROM webhook_deliveries AS d WHERE d.state = 'pending' AND d.endpoint_id > p.endpoint_id)
			FROM pending AS p WHERE p.endpoint_id IS NOT NULL
		), owned AS MATERIALIZED (
			SELECT endpoint_id, (
				SELECT d.account_id FROM webhook_deliveries AS d
				WHERE d.state = 'pending' AND d.endpoint_id = pending.endpoint_id AND NOT EXISTS (
					SELECT 1 FROM webhook_claims AS c
					WHERE c.account_id = d.account_id AND c.endpoint_id = d.endpoint_id AND c.delivery_id = d.id)
				ORDER BY d.account_id, d.id LIMIT 1) AS account_id
			FROM pending WHERE endpoint_id IS NOT NULL
		), page AS MATERIALIZED (SELECT account_id, endpoint_id FROM owned WHERE account_id IS NOT NULL AND `+db.EnabledAccount+` LIMIT ? + 0)
		SELECT account_id, endpoint_id, COALESCE((
			SELECT e.format FROM webhook_endpoints AS e WHERE e.account_id = page.account_id AND e.id = page.endpoint_id), 'raw') AS format
		FROM page`, after, limit)
	})
	if err != nil {
		return nil, fmt.Errorf("find pending endpoints: %w", err)
	}
	return rows, nil
}

// claimDeliveries does the claims of a round. What waits for an endpoint that is inactive or deleted ends as failed, at most 1000 deliveries at a
// time. An endpoint whose secret our keys do not open is returned as closed. The endpoints are in the same order everywhere, so that two
// dispatchers cannot wait for each other.
func (s *Store) claimDeliveries(ctx context.Context, u *db.Unit, claims []DeliveryClaim, lease time.Duration) (e Exchange, err error) {
	if len(claims) == 0 {
		return e, nil
	}
	slices.SortFunc(claims, func(a, b DeliveryClaim) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.EndpointID, b.EndpointID))
	})
	endpoints, err := s.endpointsOf(ctx, u, claims)
	if err != nil {
		return e, fmt.Errorf("read endpoints of deliveries: %w", err)
	}
	active := make([]DeliveryClaim, 0, len(claims))
	for _, claim := range claims {
		endpoint := endpoints[claim.EndpointID]
		if endpoint == nil || endpoint.Status != WebhookEndpointActive {
			if err := s.failPending(ctx, u, claim.AccountID, claim.EndpointID, 1000); err != nil {
				return e, err
			}
		} else if _, _, err := s.OpenWebhookSecrets(endpoint); err != nil {
			if e.Closed == nil {
				e.Closed = map[string]bool{}
			}
			e.Closed[claim.EndpointID] = true
		} else {
			active = append(active, claim)
		}
	}
	e.Claimed, err = s.claimActive(ctx, u, active, lease)
	if err != nil {
		return e, fmt.Errorf("claim deliveries: %w", err)
	}
	for i := range e.Claimed {
		e.Claimed[i].Endpoint = endpoints[e.Claimed[i].EndpointID]
	}
	return e, nil
}

// endpointsOf returns the endpoints that the claims are about, by id. One that was deleted is not in the map.
func (s *Store) endpointsOf(ctx context.Context, u *db.Unit, claims []DeliveryClaim) (map[string]*WebhookEndpoint, error) {
	rows, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	found, err := db.Select[WebhookEndpoint](ctx, u, webhookEndpointColumns.SelectSQL+`
		JOIN `+s.db.JSONTable("account text", "endpoint text")+` AS claims
		ON account_id = claims.account AND id = claims.endpoint`, string(rows))
	endpoints := make(map[string]*WebhookEndpoint, len(found))
	for i := range found {
		endpoints[found[i].ID] = &found[i]
	}
	return endpoints, err
}

// claimActive claims deliveries of active endpoints and reads what is needed to send them. They are read by a statement of their own, because
// that one sees what another replica has finished since the claim. Such a delivery is not sent again, and the claim ends with its lease. The
// condition names the states that are not pending, because PostgreSQL would otherwise read the index of unfinished deliveries from end to end.
// Each is looked up. PostgreSQL would join all that an account has while it thinks of the tables as they were a moment ago. Everybody's webhooks
// would wait for that.
func (s *Store) claimActive(ctx context.Context, u *db.Unit, claims []DeliveryClaim, lease time.Duration) ([]ClaimedDelivery, error) {
	token := core.NewULID()
	keys, err := s.claimAll(ctx, u, claims, token, lease)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	claimed, err := db.Select[ClaimedDelivery](ctx, u, `
		SELECT d.account_id, d.id, d.endpoint_id, d.event_id, d.attempts + 1 AS attempt, e.body
		FROM `+s.db.JSONTable("account text", "id text")+` AS c`+
		s.db.LookUp("webhook_deliveries", "d", "d.account_id = c.account AND d.id = c.id AND d.state NOT IN ('succeeded', 'failed')")+
		s.db.LookUp("events", "e", "e.account_id = d.account_id AND e.id = d.event_id"),
		core.JSONOf(keys))
	for i := range claimed {
		claimed[i].Lease = token
	}
	return claimed, err
}

// claimAll claims deliveries of all endpoints. PostgreSQL is asked once for all of them. SQLite cannot limit each part of a join, so it is asked
// for one after the other. There a statement costs no more than a function call.
func (s *Store) claimAll(ctx context.Context, u *db.Unit, claims []DeliveryClaim, token string, lease time.Duration) ([]claimKey, error) {
	if len(claims) == 0 || s.db.Engine != core.SQLite {
		return s.claimOfAll(ctx, u, claims, token, lease)
	}
	var all []claimKey
	for _, claim := range claims {
		keys, err := s.claimOfOne(ctx, u, claim, token, lease)
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
	}
	return all, nil
}

// claimOfOne claims deliveries of one endpoint: of each ordering key in the claim window, the earliest that is not
// finished. A redelivered event is the earliest of its key although its delivery has a later id than those that wait behind it. So it is claimed
// even outside the window. The limits are written LIMIT ? + 0 because SQLite would compile the statement anew for every value of a bare LIMIT ?.
// AtMost does not matter: no other replica sends from an embedded database.
func (s *Store) claimOfOne(ctx context.Context, u *db.Unit, c DeliveryClaim, token string, lease time.Duration) ([]claimKey, error) {
	return db.Select[claimKey](ctx, u, `
		INSERT INTO webhook_claims (account_id, endpoint_id, delivery_id, lease_token, lease_until)
		SELECT ?, ?, first, ?, `+s.db.NowSQL()+` + ? FROM (
			SELECT id, (
				SELECT e.id FROM webhook_deliveries AS e
				WHERE e.account_id = ? AND e.endpoint_id = ? AND e.ordering_key = oldest.ordering_key AND e.finished_at IS NULL
				ORDER BY e.key_seq, e.id LIMIT 1) AS first
			FROM (
				SELECT id, ordering_key FROM webhook_deliveries
				WHERE account_id = ? AND endpoint_id = ? AND state = 'pending' ORDER BY id LIMIT ? + 0) AS oldest)
		WHERE first >= id AND NOT EXISTS (
			SELECT 1 FROM webhook_claims AS c WHERE c.account_id = ? AND c.endpoint_id = ? AND c.delivery_id = first)
			AND NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = ? AND a.disabled_at IS NOT NULL)
		LIMIT ? + 0
		ON CONFLICT DO NOTHING RETURNING account_id, endpoint_id, delivery_id, lease_token`,
		c.AccountID, c.EndpointID, token, lease.Microseconds(), c.AccountID, c.EndpointID,
		c.AccountID, c.EndpointID, claimWindow, c.AccountID, c.EndpointID, c.AccountID, c.Limit)
}

// claimOfAll is claimOfOne for many endpoints in one statement, within AtMost as well. If two replicas choose the same
// delivery, the primary key of the claims lets only one of them have it. OFFSET 0 makes PostgreSQL look up the earliest
// delivery once for each row instead of three times.
func (s *Store) claimOfAll(ctx context.Context, u *db.Unit, claims []DeliveryClaim, token string, lease time.Duration) ([]claimKey, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	accounts, endpoints := make([]string, len(claims)), make([]string, len(claims))
	rooms, bounds := make([]int64, len(claims)), make([]int64, len(claims))
	for i, c := range claims {
		accounts[i], endpoints[i], rooms[i], bounds[i] = c.AccountID, c.EndpointID, int64(c.Limit), int64(c.AtMost)
	}
	return db.Select[claimKey](ctx, u, `
		INSERT INTO webhook_claims (account_id, endpoint_id, delivery_id, lease_token, lease_until)
		SELECT claims.account, claims.endpoint, due.id, ?, `+s.db.NowSQL()+` + ?
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
					ORDER BY id LIMIT ?) AS oldest
				OFFSET 0) AS keys
			WHERE first >= id AND NOT EXISTS (
				SELECT 1 FROM webhook_claims AS c
				WHERE c.account_id = claims.account AND c.endpoint_id = claims.endpoint AND c.delivery_id = first)
			LIMIT GREATEST(0, LEAST(claims.room, claims.bound - (
				SELECT count(*) FROM webhook_claims AS busy
				WHERE busy.account_id = claims.account AND busy.endpoint_id = claims.endpoint)))) AS due
		WHERE NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = claims.account AND a.disabled_at IS NOT NULL)
		ON CONFLICT DO NOTHING RETURNING account_id, endpoint_id, delivery_id, lease_token`,
		token, lease.Microseconds(), pq.Array(accounts), pq.Array(endpoints), pq.Array(rooms), pq.Array(bounds), claimWindow)
}

// endClaims deletes claims and returns the ids of the deliveries whose claim was still there. Only whoever has ended a
// claim may change its delivery.
func (s *Store) endClaims(ctx context.Context, u *db.Unit, keys []claimKey) (map[string]bool, error) {
	table, args := s.endedClaims(keys)
	ended, err := db.Select[string](ctx, u, `
		DELETE FROM webhook_claims WHERE (account_id, endpoint_id, delivery_id, lease_token) IN (SELECT account, endpoint, id, lease FROM `+table+`)
		RETURNING delivery_id`, args...)
	if err != nil {
		return nil, fmt.Errorf("end claims: %w", err)
	}
	held := make(map[string]bool, len(ended))
	for _, id := range ended {
		held[id] = true
	}
	return held, nil
}

// endedClaims is SQL of a table of claims, and its arguments. PostgreSQL is given arrays. Of a table of JSON it expects a hundred rows, and goes
// through all claims for so many. Of an array it expects ten, and goes by their keys.
func (s *Store) endedClaims(keys []claimKey) (table string, args []any) {
	if s.db.Engine == core.SQLite {
		return s.db.JSONTable("account text", "endpoint text", "id text", "lease text") + " AS ended", []any{core.JSONOf(keys)}
	}
	var accounts, endpoints, ids, leases []string
	for _, key := range keys {
		accounts, endpoints, ids, leases = append(accounts, key.AccountID), append(endpoints, key.EndpointID), append(ids, key.DeliveryID), append(leases, key.Lease)
	}
	return "unnest(CAST(? AS text[]), CAST(? AS text[]), CAST(? AS text[]), CAST(? AS text[])) AS ended (account, endpoint, id, lease)",
		[]any{pq.Array(accounts), pq.Array(endpoints), pq.Array(ids), pq.Array(leases)}
}

// ReleaseExpiredDeliveries ends claims whose lease is over, at most 1000 at a time: their sender never recorded a
// result. The deliveries can be claimed again, except that one which was sent that way maxAttempts times ends as failed,
// aborted. It returns how many deliveries were changed.
func (s *Store) ReleaseExpiredDeliveries(ctx context.Context) (int64, error) {
	expired, err := db.Select[claimKey](ctx, s.db, `
		SELECT account_id, endpoint_id, delivery_id, lease_token FROM webhook_claims WHERE lease_until < `+s.db.NowSQL()+` LIMIT 1000`)
	if err != nil || len(expired) == 0 {
		return 0, err
	}
	keys := map[string][]claimKey{}
	for _, key := range expired {
		keys[key.AccountID] = append(keys[key.AccountID], key)
	}
	var released int64
	var errs []error
	for account, keys := range keys {
		rows, err := s.releaseExpired(ctx, account, keys)
		released += rows
		errs = append(errs, err)
	}
	return released, errors.Join(errs...)
}

// releaseExpired does this for the claims of one account, in a transaction of its own.
func (s *Store) releaseExpired(ctx context.Context, account string, keys []claimKey) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		held, err := s.endClaims(ctx, u, keys)
		if err != nil {
			return 0, err
		}
		now := s.Now()
		condition, ids := s.db.In("id", slices.Collect(maps.Keys(held)))
		return u.Exec(ctx, `
			UPDATE webhook_deliveries SET
				attempts = attempts + 1,
				state = CASE WHEN attempts + 1 < ? THEN 'pending' ELSE 'failed' END,
				reason = CASE WHEN attempts + 1 < ? THEN NULL ELSE 'aborted' END,
				finished_at = CASE WHEN attempts + 1 < ? THEN NULL ELSE CAST(? AS BIGINT) END,
				updated_at = ?
			WHERE account_id = ? AND `+condition+` AND finished_at IS NULL`,
			maxAttempts, maxAttempts, maxAttempts, now, now, account, ids)
	})
}
