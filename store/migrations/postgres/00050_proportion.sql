-- +goose NO TRANSACTION
-- +goose Up

-- The rows of an invoice, a customer or a checkout in the order of their ids: an index without the id made both databases read all rows of the
-- account in that order instead.
DROP INDEX IF EXISTS line_items_invoice;

CREATE INDEX IF NOT EXISTS line_items_invoice ON line_items (account_id, invoice_id, id);

DROP INDEX IF EXISTS portal_sessions_customer;

CREATE INDEX IF NOT EXISTS portal_sessions_customer ON portal_sessions (account_id, customer_id, id);

DROP INDEX IF EXISTS subscriptions_checkout;

CREATE INDEX IF NOT EXISTS subscriptions_checkout ON subscriptions (account_id, checkout_id, id) WHERE checkout_id IS NOT NULL;

-- What few rows of an account are, so that nobody looks for them among all others.
CREATE INDEX IF NOT EXISTS subscriptions_changing ON subscriptions (account_id, id) WHERE pending_change IS NOT NULL;

CREATE INDEX IF NOT EXISTS payments_waiting ON payments (account_id, created_at, id) WHERE status = 'requires_action';

CREATE INDEX IF NOT EXISTS invoices_unpaid_due ON invoices (account_id, due_at, id)
    WHERE status = 'open' AND billing_reason = 'manual' AND next_payment_attempt_at IS NULL;

CREATE INDEX IF NOT EXISTS invoices_next_attempt ON invoices (account_id, next_payment_attempt_at, id)
    WHERE subscription_id IS NULL AND next_payment_attempt_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS global_names_site ON global_names (account_id, object_id) WHERE kind IN ('subdomain', 'former_subdomain');

CREATE INDEX IF NOT EXISTS ad_accounts_network ON ad_accounts (account_id, platform_id);
