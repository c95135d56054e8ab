-- +goose Up

-- How often something was done for a subject, until ends_at. The account is '' where all accounts are counted together. What is over is deleted.
CREATE TABLE throttles (
    account_id TEXT NOT NULL,
    subject    TEXT NOT NULL,
    counted    INTEGER NOT NULL CHECK (counted >= 0),
    ends_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, subject)
) STRICT;

CREATE INDEX throttles_ends ON throttles (ends_at);

-- It takes the place of letter_windows, sign_in_failures and ai_site_generations, and of the guards that counted opened checkouts; limits begin anew. Those
-- tables stay for one release, because an old server that still runs beside a new one counts in them. The next release drops them.
