-- +goose Up

-- What is due of one account, however much is due of the others.
CREATE INDEX subscriptions_account_due ON subscriptions (account_id, due_at) WHERE due_at IS NOT NULL;
