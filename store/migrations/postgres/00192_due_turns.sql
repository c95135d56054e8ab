-- +goose NO TRANSACTION
-- +goose Up

-- The next notice of each account, however many it has.
CREATE INDEX IF NOT EXISTS file_notices_account_turn ON file_notices (account_id, turn_at, id);
DROP INDEX IF EXISTS file_notices_turn;

-- Of an endpoint that is switched off nobody is told.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_endpoints_active_untold ON webhook_endpoints (failing_since)
    WHERE status = 'active' AND failing_since IS NOT NULL AND (told_since IS NULL OR told_since <> failing_since);
DROP INDEX IF EXISTS webhook_endpoints_untold;
