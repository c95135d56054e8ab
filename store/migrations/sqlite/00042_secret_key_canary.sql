-- +goose Up

-- One sealed text, by which a server tells whether its secret keys are those of this database, before it touches anything.
CREATE TABLE secret_key_canary (
    name   TEXT NOT NULL PRIMARY KEY,
    sealed BLOB NOT NULL
) STRICT;
