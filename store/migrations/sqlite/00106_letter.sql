-- +goose Up

-- What customers are sent by themselves. The text is written when a letter is sent, and is not kept.
CREATE TABLE letters (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    kind            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'skipped')),
    customer_id     TEXT NOT NULL,
    object_id       TEXT NOT NULL, -- of what it is about
    period          TEXT NOT NULL, -- which of several letters of the kind about the object; empty if there is one
    due_at          INTEGER, -- by the account's clock: from when on it is to be sent, NULL once it is
    next_attempt_at INTEGER, -- when it is to be sent, or tried again
    attempts        INTEGER NOT NULL,
    resends         INTEGER NOT NULL,
    recipient       TEXT, -- the address that it was last tried to be sent to
    subject         TEXT,
    last_error      TEXT,
    sent_at         INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'queued') = (due_at IS NOT NULL OR next_attempt_at IS NOT NULL))
) STRICT;

-- Each cause has one letter.
CREATE UNIQUE INDEX letters_cause ON letters (account_id, object_id, kind, period);

CREATE INDEX letters_kind ON letters (account_id, kind, id);

CREATE INDEX letters_status ON letters (account_id, status, id);

CREATE INDEX letters_customer ON letters (account_id, customer_id, id);

-- What waits to be sent, or for its day.
CREATE INDEX letters_next ON letters (account_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE INDEX letters_due ON letters (due_at) WHERE due_at IS NOT NULL;

-- The kinds that an account has switched off, as a JSON array.
ALTER TABLE accounts ADD COLUMN letters_off TEXT NOT NULL DEFAULT '[]';
