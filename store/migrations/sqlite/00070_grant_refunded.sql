-- +goose Up

-- Whether a refund that stands took the grant away, whatever its reason says since: its licence key does not come back, and no plan lets its
-- customer in again before the next payment.
ALTER TABLE grants ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0;

UPDATE grants SET refunded = 1 WHERE reason = 'refund' OR status = 'revoked' AND source_type = 'subscription' AND EXISTS (
    SELECT 1 FROM refunds r WHERE r.account_id = grants.account_id AND r.status = 'succeeded' AND r.revoke_access
        AND (r.subscription_id = grants.source_id OR r.order_id IN (
            SELECT l.order_id FROM line_items l WHERE l.account_id = grants.account_id AND l.subscription_id = grants.source_id))
        AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = r.account_id AND o.subscription_id = grants.source_id AND o.paid_at > r.succeeded_at));
