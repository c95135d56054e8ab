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

-- It takes the place of these, whose limits begin anew, and of the guards that counted opened checkouts.
DROP TABLE letter_windows;

DROP TABLE sign_in_failures;

DROP TABLE ai_site_generations;
