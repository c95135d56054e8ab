-- +goose Up

-- What a buyer's program shows to be used. The key is sealed, and found by the SHA-256 of its normal form. Expired is what expires_at says.
CREATE TABLE license_keys (
    account_id        TEXT NOT NULL,
    id                TEXT NOT NULL,
    product_id        TEXT NOT NULL,
    grant_id          TEXT, -- what it lives and ends with
    customer_id       TEXT,
    key_hash          TEXT NOT NULL,
    sealed_key        BYTEA NOT NULL,
    display_key       TEXT NOT NULL, -- its last five characters
    status            TEXT NOT NULL CHECK (status IN ('granted', 'disabled', 'revoked')),
    ended_by          TEXT CHECK (ended_by IN ('grant', 'hand', 'rotation')),
    in_stock          BOOLEAN NOT NULL, -- imported, and not sold yet
    activation_limit  BIGINT,
    activations_count BIGINT NOT NULL CHECK (activations_count >= 0 AND (activation_limit IS NULL OR activations_count <= activation_limit)),
    offline_days      BIGINT, -- of its price variant when it was issued; NULL = the default
    expires_at        BIGINT,
    last_validated_at BIGINT,
    metadata          TEXT NOT NULL, -- JSON object
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'revoked') = (ended_by IS NOT NULL))
);

CREATE UNIQUE INDEX license_keys_hash ON license_keys (account_id, key_hash);

CREATE INDEX license_keys_product ON license_keys (account_id, product_id, id);

CREATE INDEX license_keys_customer ON license_keys (account_id, customer_id, id) WHERE customer_id IS NOT NULL;

CREATE INDEX license_keys_grant ON license_keys (account_id, grant_id, id) WHERE grant_id IS NOT NULL;

CREATE INDEX license_keys_status ON license_keys (account_id, status, id);

CREATE INDEX license_keys_expires ON license_keys (account_id, expires_at, id) WHERE expires_at IS NOT NULL;

CREATE INDEX license_keys_stock ON license_keys (account_id, product_id, id) WHERE in_stock;

-- Where a key is active.
CREATE TABLE license_activations (
    account_id     TEXT NOT NULL,
    id             TEXT NOT NULL,
    license_key_id TEXT NOT NULL,
    fingerprint    TEXT NOT NULL,
    name           TEXT,
    metadata       TEXT NOT NULL, -- JSON object
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, license_key_id) REFERENCES license_keys (account_id, id)
);

CREATE UNIQUE INDEX license_activations_fingerprint ON license_activations (account_id, license_key_id, fingerprint);

CREATE INDEX license_activations_key ON license_activations (account_id, license_key_id, id);

-- What signs the tokens of activations: of an account the newest one.
CREATE TABLE license_signing_keys (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    number      BIGINT NOT NULL, -- 1, 2, ..., so that the first one is made once
    public_key  TEXT NOT NULL, -- base64url
    sealed_seed BYTEA NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX license_signing_keys_number ON license_signing_keys (account_id, number);

-- +goose StatementBegin
CREATE FUNCTION license_keys_filter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM filter_entries WHERE account_id = OLD.account_id AND list = 'license_keys' AND object_id = OLD.id AND (name, value) IN (
            SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(OLD.metadata AS json)));
    END IF;
    INSERT INTO filter_entries (account_id, list, name, value, object_id) SELECT NEW.account_id, 'license_keys', e.name, e.value, NEW.id FROM (
        SELECT 'metadata.' || key AS name, left(value, 500) AS value FROM json_each_text(CAST(NEW.metadata AS json))) AS e ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER license_keys_filter AFTER INSERT ON license_keys FOR EACH ROW EXECUTE FUNCTION license_keys_filter();
CREATE TRIGGER license_keys_filter_update AFTER UPDATE ON license_keys FOR EACH ROW WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION license_keys_filter();
