-- +goose Up

-- Letters that a seller writes about a product, to customers who agreed to news.
CREATE TABLE product_news (
    account_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    product_id    TEXT NOT NULL,
    subject       TEXT NOT NULL,
    body          TEXT NOT NULL,
    audience      TEXT NOT NULL CHECK (audience IN ('buyers', 'everyone')),
    status        TEXT NOT NULL CHECK (status IN ('scheduled', 'sending', 'sent', 'canceled')),
    send_at       INTEGER, -- when the seller wants it sent; NULL: at once
    due_at        INTEGER, -- send_at while it waits for that, by the account's clock
    turn_at       INTEGER, -- while letters are still to be written: whoever waited longest is next
    after_id      TEXT NOT NULL, -- the grant or the customer up to which they are written
    recipients    INTEGER NOT NULL,
    sent_count    INTEGER NOT NULL,
    failed_count  INTEGER NOT NULL,
    skipped_count INTEGER NOT NULL,
    sent_at       INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'scheduled') = (due_at IS NOT NULL)),
    CHECK (turn_at IS NULL OR status = 'sending')
) STRICT;

CREATE INDEX product_news_product ON product_news (account_id, product_id, id);
CREATE INDEX product_news_status ON product_news (account_id, status, id);
CREATE INDEX product_news_due ON product_news (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX product_news_account_due ON product_news (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX product_news_turn ON product_news (account_id, turn_at, id) WHERE turn_at IS NOT NULL;

-- Letters of news are sent after all others.
CREATE INDEX letters_next_single ON letters (account_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL AND kind <> 'product_news';
CREATE INDEX letters_next_news ON letters (account_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL AND kind = 'product_news';
