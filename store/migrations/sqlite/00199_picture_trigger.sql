-- +goose Up

-- Triggers of SQLite share no function.
SELECT 1;
