-- +goose Up

-- How far an account's own clock is ahead of the real one, in microseconds. Only a development server moves it.
ALTER TABLE accounts ADD COLUMN clock_offset INTEGER NOT NULL DEFAULT 0;
