-- +goose Up

-- Customers who do not own the address that was typed for them, by it.
CREATE INDEX customers_typed ON customers (account_id, LOWER(email))
    WHERE email IS NOT NULL AND (email_key IS NULL OR email_key <> LOWER(email));

-- Checkouts that are being paid, by their address: there are few.
CREATE INDEX checkouts_paying ON checkouts (account_id, COALESCE(customer_email_key, LOWER(customer_email))) WHERE status = 'processing';
