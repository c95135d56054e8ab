-- +goose NO TRANSACTION
-- +goose Up

-- The methods that a provider has yet to be told of, because nobody may be charged with them any more.
CREATE TABLE IF NOT EXISTS detachments (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL, -- that of the method here
    provider     TEXT NOT NULL,
    provider_ref TEXT NOT NULL, -- the provider's name of the method
    lease_until  BIGINT NOT NULL, -- by the database's clock: whoever is telling is left alone until then
    created_at   BIGINT NOT NULL, -- by the same
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS detachments_due ON detachments (provider, lease_until);

CREATE INDEX IF NOT EXISTS payment_methods_ref ON payment_methods (account_id, provider_ref);

INSERT INTO detachments (account_id, id, provider, provider_ref, lease_until, created_at)
SELECT account_id, id, provider, provider_ref, 0, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)
FROM payment_methods WHERE deleted_at IS NOT NULL AND provider <> 'test'
ON CONFLICT DO NOTHING;
