-- +goose NO TRANSACTION
-- +goose Up

-- How far an account's own clock is ahead of the real one, in microseconds. Only a development server moves it.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS clock_offset BIGINT NOT NULL DEFAULT 0;
