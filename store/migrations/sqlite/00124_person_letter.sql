-- +goose Up

-- When the letter with a link is to be sent next, NULL for a link that goes another way or whose letter was sent.
ALTER TABLE person_links ADD COLUMN letter_due_at INTEGER;
ALTER TABLE person_links ADD COLUMN letter_attempts INTEGER NOT NULL DEFAULT 0;

CREATE INDEX person_links_letter ON person_links (letter_due_at) WHERE letter_due_at IS NOT NULL;
