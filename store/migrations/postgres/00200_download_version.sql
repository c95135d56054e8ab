-- +goose NO TRANSACTION
-- +goose Up

-- Which version of a file was downloaded last by the grant; NULL = none since this is noted.
ALTER TABLE grant_downloads ADD COLUMN IF NOT EXISTS version BIGINT;
