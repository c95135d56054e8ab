-- +goose NO TRANSACTION
-- +goose Up

-- Whether a lead of a form has to confirm its address before it counts as having agreed to letters.
ALTER TABLE accounts ADD COLUMN IF NOT EXISTS lead_confirmation TEXT NOT NULL DEFAULT 'none' CHECK (lead_confirmation IN ('none', 'double_opt_in'));

-- When the letter that asks a lead for that is to be sent, or tried again, and how often that was tried; NULL = none waits.
ALTER TABLE leads ADD COLUMN IF NOT EXISTS letter_due_at BIGINT;
ALTER TABLE leads ADD COLUMN IF NOT EXISTS letter_attempts BIGINT NOT NULL DEFAULT 0;

-- Whose turn it is, of any account.
CREATE INDEX IF NOT EXISTS leads_letter_due ON leads (letter_due_at) WHERE letter_due_at IS NOT NULL;
