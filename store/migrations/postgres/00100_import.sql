-- +goose NO TRANSACTION
-- +goose Up

-- How far a file is imported: a run that was cut off goes on after these rows. The id is what it holds and the hash of its bytes.
CREATE TABLE IF NOT EXISTS imports (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    row_count   BIGINT NOT NULL, -- of the rows that are done
    error_bytes BIGINT NOT NULL, -- how long the file of the failed rows was then
    created     BIGINT NOT NULL,
    updated     BIGINT NOT NULL,
    unchanged   BIGINT NOT NULL,
    failed      BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
