-- +goose Up

-- How far a file is imported: a run that was cut off goes on after these rows. The id is what it holds and the hash of its bytes.
CREATE TABLE imports (
    account_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    row_count   INTEGER NOT NULL, -- of the rows that are done
    error_bytes INTEGER NOT NULL, -- how long the file of the failed rows was then
    created     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    unchanged   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
