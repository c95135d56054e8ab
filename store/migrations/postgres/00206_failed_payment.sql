-- +goose NO TRANSACTION
-- +goose Up

-- What could not be collected on a day, of which the team is told.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_failed ON payments (account_id, created_at) WHERE status = 'failed' AND invoice_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_past_due ON invoices (account_id, past_due_at) WHERE subscription_id IS NOT NULL AND past_due_at IS NOT NULL;
