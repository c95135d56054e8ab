-- +goose NO TRANSACTION
-- +goose Up

-- Events are listed by their type, newest first.
CREATE INDEX IF NOT EXISTS events_type ON events (account_id, type, id);
