-- +goose NO TRANSACTION
-- +goose Up

-- Letters that a seller writes about a product, to customers who agreed to news.
CREATE TABLE IF NOT EXISTS product_news (
    account_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    product_id    TEXT NOT NULL,
    subject       TEXT NOT NULL,
    body          TEXT NOT NULL,
    audience      TEXT NOT NULL CHECK (audience IN ('buyers', 'everyone')),
    status        TEXT NOT NULL CHECK (status IN ('scheduled', 'sending', 'sent', 'canceled')),
    send_at       BIGINT, -- when the seller wants it sent; NULL: at once
    due_at        BIGINT, -- send_at while it waits for that, by the account's clock
    turn_at       BIGINT, -- while letters are still to be written: whoever waited longest is next
    after_id      TEXT NOT NULL, -- the grant or the customer up to which they are written
    recipients    BIGINT NOT NULL,
    sent_count    BIGINT NOT NULL,
    failed_count  BIGINT NOT NULL,
    skipped_count BIGINT NOT NULL,
    sent_at       BIGINT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'scheduled') = (due_at IS NOT NULL)),
    CHECK (turn_at IS NULL OR status = 'sending')
);

ALTER TABLE product_news ALTER COLUMN account_id SET (n_distinct = 20);

CREATE INDEX IF NOT EXISTS product_news_product ON product_news (account_id, product_id, id);
CREATE INDEX IF NOT EXISTS product_news_status ON product_news (account_id, status, id);
CREATE INDEX IF NOT EXISTS product_news_due ON product_news (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS product_news_account_due ON product_news (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS product_news_turn ON product_news (account_id, turn_at, id) WHERE turn_at IS NOT NULL;

-- Letters of news are sent after all others.
CREATE INDEX CONCURRENTLY IF NOT EXISTS letters_next_single ON letters (account_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL AND kind <> 'product_news';
CREATE INDEX CONCURRENTLY IF NOT EXISTS letters_next_news ON letters (account_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL AND kind = 'product_news';
