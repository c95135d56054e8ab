-- +goose NO TRANSACTION
-- +goose Up

-- One sealed text, by which a server tells whether its secret keys are those of this database, before it touches anything.
CREATE TABLE IF NOT EXISTS secret_key_canary (
    name   TEXT NOT NULL PRIMARY KEY,
    sealed BYTEA NOT NULL
);
