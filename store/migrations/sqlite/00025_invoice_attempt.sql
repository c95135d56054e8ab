-- +goose Up

-- The invoices that the seller wrote and that are to be charged; those of a subscription are charged with it.
CREATE INDEX invoices_attempt ON invoices (next_payment_attempt_at)
    WHERE next_payment_attempt_at IS NOT NULL AND subscription_id IS NULL;
