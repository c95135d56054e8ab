-- +goose NO TRANSACTION
-- +goose Up

-- Which files the content of an experience names.
CREATE TABLE IF NOT EXISTS experience_files (
    account_id    TEXT NOT NULL,
    experience_id TEXT NOT NULL,
    file_id       TEXT NOT NULL,
    PRIMARY KEY (account_id, experience_id, file_id)
);

CREATE INDEX IF NOT EXISTS experience_files_file ON experience_files (account_id, file_id);

-- Which products deliver an experience, or did.
CREATE INDEX IF NOT EXISTS product_deliverables_experience ON product_deliverables (account_id, ref, product_id) WHERE type = 'experience';
