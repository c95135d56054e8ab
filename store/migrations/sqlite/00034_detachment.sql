-- +goose Up

-- The methods that a provider has yet to be told of, because nobody may be charged with them any more.
CREATE TABLE detachments (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL, -- that of the method here
    provider     TEXT NOT NULL,
    provider_ref TEXT NOT NULL, -- the provider's name of the method
    lease_until  INTEGER NOT NULL, -- by the database's clock: whoever is telling is left alone until then
    created_at   INTEGER NOT NULL, -- by the same
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX detachments_due ON detachments (provider, lease_until);

CREATE INDEX payment_methods_ref ON payment_methods (account_id, provider_ref);

INSERT INTO detachments (account_id, id, provider, provider_ref, lease_until, created_at)
SELECT account_id, id, provider, provider_ref, 0, CAST(unixepoch('subsec') * 1000000 AS INTEGER)
FROM payment_methods WHERE deleted_at IS NOT NULL AND provider <> 'test';
