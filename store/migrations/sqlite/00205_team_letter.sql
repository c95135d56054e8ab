-- +goose Up

-- When the letters about the day before are next written to the team; 0: it has not been planned yet.
ALTER TABLE accounts ADD COLUMN team_due_at INTEGER NOT NULL DEFAULT 0;

CREATE INDEX accounts_team_due ON accounts (team_due_at) WHERE disabled_at IS NULL;

-- What a team was told of. What it was stands in people_letters until it is sent.
CREATE TABLE team_letters (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    kind       TEXT NOT NULL,
    period     TEXT NOT NULL, -- tells several of a kind apart
    people     INTEGER NOT NULL, -- to whom it was written
    sent       INTEGER NOT NULL, -- to so many of them
    dropped    INTEGER NOT NULL, -- it was not to be sent to so many any more, or could not be
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

CREATE UNIQUE INDEX team_letters_cause ON team_letters (account_id, kind, period);
CREATE INDEX team_letters_old ON team_letters (created_at);

-- The letter to the team that it is a copy of.
ALTER TABLE people_letters ADD COLUMN letter_id TEXT;

-- Sales that a team is to be told of one by one. A reference to accounts would have each purchase lock the account.
CREATE TABLE sale_notices (
    account_id TEXT NOT NULL,
    order_id   TEXT NOT NULL,
    currency   TEXT NOT NULL,
    amount     INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, order_id)
) STRICT;

CREATE INDEX sale_notices_due ON sale_notices (due_at);
CREATE INDEX sale_notices_account_due ON sale_notices (account_id, due_at);
