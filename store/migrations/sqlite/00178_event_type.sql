-- +goose Up

-- Events are listed by their type, newest first.
CREATE INDEX events_type ON events (account_id, type, id);
