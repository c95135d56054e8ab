-- +goose Up

-- Whether buyers are told of a version once it is ready.
ALTER TABLE file_versions ADD COLUMN tell_buyers INTEGER NOT NULL DEFAULT 0;

-- Versions of which buyers are still to be told, and how far that has come: letters were written for all products before product_id, and for its
-- grants up to grant_id. The id is the version's.
CREATE TABLE file_notices (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    file_id    TEXT NOT NULL,
    version    INTEGER NOT NULL,
    product_id TEXT NOT NULL, -- empty before the first
    grant_id   TEXT NOT NULL,
    turn_at    INTEGER NOT NULL, -- whoever waited longest is next
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE INDEX file_notices_turn ON file_notices (turn_at);
CREATE INDEX file_notices_file ON file_notices (account_id, file_id);
