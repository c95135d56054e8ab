-- +goose Up

-- What of one account waits for its day: where a test clock stops next, and what it finds there.
CREATE INDEX letters_account_due ON letters (account_id, due_at) WHERE due_at IS NOT NULL;
