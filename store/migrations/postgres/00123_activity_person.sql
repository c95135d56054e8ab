-- +goose Up

-- People on the dashboard do things, too.
ALTER TABLE activities DROP CONSTRAINT activities_actor_type_check;
ALTER TABLE activities ADD CONSTRAINT activities_actor_type_check CHECK (actor_type IN ('api_key', 'person', 'customer', 'system', 'cli'));
