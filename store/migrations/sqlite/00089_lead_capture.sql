-- +goose Up

-- Whether a lead of a form has to confirm its address before it counts as having agreed to letters.
ALTER TABLE accounts ADD COLUMN lead_confirmation TEXT NOT NULL DEFAULT 'none' CHECK (lead_confirmation IN ('none', 'double_opt_in'));

-- When the letter that asks a lead for that is to be sent, or tried again, and how often that was tried; NULL = none waits.
ALTER TABLE leads ADD COLUMN letter_due_at INTEGER;
ALTER TABLE leads ADD COLUMN letter_attempts INTEGER NOT NULL DEFAULT 0;

-- Whose turn it is, of any account.
CREATE INDEX leads_letter_due ON leads (letter_due_at) WHERE letter_due_at IS NOT NULL;
