-- +goose Up

-- What PostgreSQL is told here, SQLite does not ask.
SELECT 1;
