-- +goose NO TRANSACTION
-- +goose Up

-- What customers are sent by themselves. The text is written when a letter is sent, and is not kept.
CREATE TABLE IF NOT EXISTS letters (
    account_id      TEXT NOT NULL,
    id              TEXT NOT NULL,
    kind            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'failed', 'skipped')),
    customer_id     TEXT NOT NULL,
    object_id       TEXT NOT NULL, -- of what it is about
    period          TEXT NOT NULL, -- which of several letters of the kind about the object; empty if there is one
    due_at          BIGINT, -- by the account's clock: from when on it is to be sent, NULL once it is
    next_attempt_at BIGINT, -- when it is to be sent, or tried again
    attempts        BIGINT NOT NULL,
    resends         BIGINT NOT NULL,
    recipient       TEXT, -- the address that it was last tried to be sent to
    subject         TEXT,
    last_error      TEXT,
    sent_at         BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'queued') = (due_at IS NOT NULL OR next_attempt_at IS NOT NULL))
);

-- Each cause has one letter.
CREATE UNIQUE INDEX IF NOT EXISTS letters_cause ON letters (account_id, object_id, kind, period);

CREATE INDEX IF NOT EXISTS letters_kind ON letters (account_id, kind, id);

CREATE INDEX IF NOT EXISTS letters_status ON letters (account_id, status, id);

CREATE INDEX IF NOT EXISTS letters_customer ON letters (account_id, customer_id, id);

-- What waits to be sent, or for its day.
CREATE INDEX IF NOT EXISTS letters_next ON letters (account_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS letters_due ON letters (due_at) WHERE due_at IS NOT NULL;

-- The kinds that an account has switched off, as a JSON array.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS letters_off TEXT NOT NULL DEFAULT '[]';
