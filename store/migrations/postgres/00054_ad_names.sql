-- +goose Up

-- When the token is taken off the names of what an action made, by the database's clock; NULL = nothing is to be taken off.
ALTER TABLE ad_actions ADD COLUMN names_due BIGINT;

CREATE INDEX ad_actions_names ON ad_actions (names_due) WHERE names_due IS NOT NULL;
