package main

// The statements are the server's own, copied: they change with it.

const productColumns = `account_id, id, name, slug, description, headline, status, type, visibility, images, cover_url, tax_code, call_to_action, thank_you, custom_fields, delivers, delivery_updates, price_variant_ids, default_price_variant_id, price_min_amount, price_max_amount, price_currency, has_recurring, sales_count, published_at, seo_title, seo_description, external_id, metadata, event_seq, created_at, updated_at`

const selectProduct = `SELECT ` + productColumns + ` FROM products`

const insertProduct = `INSERT INTO products (` + productColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const insertSlug = `
	INSERT INTO slugs (account_id, kind, slug, object_id, current) VALUES (?, ?, ?, ?, TRUE)
	ON CONFLICT (account_id, kind, slug) DO NOTHING`

const insertEvent = `INSERT INTO events (account_id, id, type, ordering_key, key_seq, body, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`

const insertActivity = `INSERT INTO activities (account_id, id, actor_type, actor_id, actor_name, operation, target_object, target_id, customer_id, scope, changes, request_id, ip, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const selectSubscribers = `SELECT id, enabled_events FROM webhook_endpoints WHERE account_id = ? AND status = 'active' ORDER BY id`

const claimKey = `
	INSERT INTO idempotency_keys AS k (account_id, key, fingerprint, token, effect, lease_until, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (account_id, key) DO UPDATE SET token = excluded.token, lease_until = excluded.lease_until,
		fingerprint = excluded.fingerprint, status = 0, body = NULL,
		effect = CASE WHEN k.expires_at < ? THEN excluded.effect ELSE k.effect END,
		expires_at = CASE WHEN k.expires_at < ? THEN excluded.expires_at ELSE k.expires_at END
	WHERE k.expires_at < ? OR (k.status = 0 AND k.lease_until < ? AND k.fingerprint = excluded.fingerprint)
	RETURNING effect`

const recordAnswer = `UPDATE idempotency_keys SET status = ?, body = ? WHERE account_id = ? AND key = ? AND token = ? AND status = 0`

const localKey = `SELECT id, account_id, scopes FROM api_keys WHERE token_hash = ? AND (expires_at IS NULL OR expires_at > ?)`

const sharedKey = `
	WITH q AS (
		SELECT k.id, k.account_id, k.scopes, q.ord, coalesce(k.id, q.address) AS subject
		FROM unnest((SELECT ?::bytea[]), (SELECT ?::text[])) WITH ORDINALITY AS q (hash, address, ord)
		LEFT JOIN LATERAL (
			SELECT id, account_id, scopes FROM api_keys
			WHERE token_hash = q.hash AND (expires_at IS NULL OR expires_at > extract(epoch FROM clock_timestamp()) * 1000000)
			LIMIT 1) AS k ON TRUE
	), c AS (
		SELECT subject, count(*) AS n FROM q GROUP BY subject ORDER BY subject
	), w AS (
		INSERT INTO rate_windows AS r (subject, minute, used)
		SELECT subject, floor(extract(epoch FROM clock_timestamp()))::bigint / 60, n FROM c ORDER BY subject
		ON CONFLICT (subject) DO UPDATE SET minute = greatest(r.minute, excluded.minute),
			used = excluded.used + CASE WHEN excluded.minute > r.minute THEN 0 ELSE r.used END
		RETURNING subject, minute, used
	)
	SELECT q.ord, q.id, q.account_id, q.scopes, w.minute, floor(extract(epoch FROM clock_timestamp()))::bigint AS now,
		w.used - c.n + row_number() OVER (PARTITION BY q.subject ORDER BY q.ord) AS used
	FROM q JOIN w ON w.subject = q.subject JOIN c ON c.subject = q.subject`

func (f *floor) quotaQuery() string {
	if f.shared {
		return sharedKey
	}
	return localKey
}
