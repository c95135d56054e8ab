-- +goose NO TRANSACTION
-- +goose Up

-- How often something was done for a subject, until ends_at. The account is '' where all accounts are counted together. What is over is deleted.
CREATE TABLE IF NOT EXISTS throttles (
    account_id TEXT NOT NULL,
    subject    TEXT NOT NULL,
    counted    BIGINT NOT NULL CHECK (counted >= 0),
    ends_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, subject)
);

CREATE INDEX IF NOT EXISTS throttles_ends ON throttles (ends_at);

ALTER TABLE throttles ALTER COLUMN account_id SET (n_distinct = 20);

-- It takes the place of letter_windows, sign_in_failures and ai_site_generations, and of the guards that counted opened checkouts; limits begin anew. Those
-- tables stay for one release, because an old server that still runs beside a new one counts in them. The next release drops them.
