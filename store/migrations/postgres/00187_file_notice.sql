-- +goose NO TRANSACTION
-- +goose Up

-- Whether buyers are told of a version once it is ready.
ALTER TABLE file_versions ADD COLUMN IF NOT EXISTS tell_buyers BOOLEAN NOT NULL DEFAULT FALSE;

-- Versions of which buyers are still to be told, and how far that has come: letters were written for all products before product_id, and for its
-- grants up to grant_id. The id is the version's.
CREATE TABLE IF NOT EXISTS file_notices (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    file_id    TEXT NOT NULL,
    version    BIGINT NOT NULL,
    product_id TEXT NOT NULL, -- empty before the first
    grant_id   TEXT NOT NULL,
    turn_at    BIGINT NOT NULL, -- whoever waited longest is next
    PRIMARY KEY (account_id, id)
);

CREATE INDEX IF NOT EXISTS file_notices_turn ON file_notices (turn_at);
CREATE INDEX IF NOT EXISTS file_notices_file ON file_notices (account_id, file_id);

ALTER TABLE file_notices ALTER COLUMN account_id SET (n_distinct = 20);
