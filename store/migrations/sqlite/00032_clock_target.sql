-- +goose Up

-- Where an account's clock was last to be moved to, and by which request: one that is sent again goes on to the same.
ALTER TABLE accounts ADD COLUMN clock_effect TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN clock_target INTEGER NOT NULL DEFAULT 0;
