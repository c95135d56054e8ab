-- +goose NO TRANSACTION
-- +goose Up

-- When somebody who signs in used a link that was sent to their address by a letter. Until then they are sent no other letters.
ALTER TABLE people ADD COLUMN IF NOT EXISTS email_confirmed_at BIGINT;
