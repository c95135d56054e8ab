-- +goose Up

-- How many pages an account had generated in an hour, counted from 1970.
CREATE TABLE ai_site_generations (
    account_id TEXT NOT NULL,
    hour       BIGINT NOT NULL,
    used       BIGINT NOT NULL,
    PRIMARY KEY (account_id, hour)
);
