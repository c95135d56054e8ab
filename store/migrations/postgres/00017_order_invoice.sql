-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE orders ADD COLUMN IF NOT EXISTS invoice_id TEXT;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS subscription_id TEXT;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS discount_id TEXT;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS period_start BIGINT;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS period_end BIGINT;

-- What the customer's credit paid of the total.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS balance_applied BIGINT NOT NULL DEFAULT 0 CHECK (balance_applied >= 0);

ALTER TABLE orders ADD COLUMN IF NOT EXISTS next_payment_attempt_at BIGINT;

-- A period of a subscription is billed at most once.
CREATE UNIQUE INDEX IF NOT EXISTS orders_period ON orders (account_id, subscription_id, period_start)
    WHERE subscription_id IS NOT NULL AND billing_reason IN ('subscription_create', 'subscription_cycle');

CREATE INDEX IF NOT EXISTS orders_discount ON orders (account_id, discount_id, id) WHERE discount_id IS NOT NULL;

-- What is paid: an open checkout, which becomes an order, or an invoice, whose order exists.
ALTER TABLE payments ADD COLUMN IF NOT EXISTS purpose TEXT NOT NULL DEFAULT 'checkout' CHECK (purpose IN ('checkout', 'invoice'));

ALTER TABLE payments ADD COLUMN IF NOT EXISTS invoice_id TEXT;

ALTER TABLE payments ADD COLUMN IF NOT EXISTS customer_id TEXT;

-- At most one payment of an invoice is under way, and at most one of an order has succeeded.
CREATE UNIQUE INDEX IF NOT EXISTS payments_invoice_open ON payments (account_id, invoice_id)
    WHERE invoice_id IS NOT NULL AND status IN ('pending', 'requires_action');

CREATE UNIQUE INDEX IF NOT EXISTS payments_order_paid ON payments (account_id, order_id) WHERE order_id IS NOT NULL AND status = 'succeeded';

CREATE INDEX IF NOT EXISTS payments_invoice ON payments (account_id, invoice_id);

-- A line of a checkout, or of an order and its invoice, which have copies of their own.
ALTER TABLE line_items ALTER COLUMN product_id DROP NOT NULL;

ALTER TABLE line_items ALTER COLUMN price_variant_id DROP NOT NULL;

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS invoice_id TEXT;

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS kind TEXT NOT NULL DEFAULT 'price' CHECK (kind IN ('price', 'setup_fee', 'proration', 'custom'));

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS description TEXT;

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS tax_rate_bps BIGINT NOT NULL DEFAULT 0 CHECK (tax_rate_bps >= 0);

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS tax_name TEXT;

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS tax_inclusive BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS period_start BIGINT;

ALTER TABLE line_items ADD COLUMN IF NOT EXISTS period_end BIGINT;

CREATE INDEX IF NOT EXISTS line_items_invoice ON line_items (account_id, invoice_id);

-- A draft has no number and no order; every other invoice has both. The snapshot says whom it was issued to.
CREATE TABLE IF NOT EXISTS invoices (
    account_id              TEXT NOT NULL,
    id                      TEXT NOT NULL,
    order_key               TEXT NOT NULL, -- the id of its order, from the draft on: the ordering key of its events
    order_id                TEXT, -- NULL for a draft
    sequence                BIGINT, -- counts the account's invoices
    number                  TEXT, -- the same with its prefix
    status                  TEXT NOT NULL CHECK (status IN ('draft', 'open', 'past_due', 'paid', 'void', 'uncollectible')),
    collection_method       TEXT NOT NULL CHECK (collection_method IN ('charge_automatically', 'send_invoice')),
    billing_reason          TEXT NOT NULL CHECK (billing_reason IN ('purchase', 'subscription_create', 'subscription_cycle', 'subscription_update', 'manual')),
    customer_id             TEXT NOT NULL,
    customer_email          TEXT,
    customer_name           TEXT,
    customer_address        TEXT, -- JSON
    customer_tax_id         TEXT, -- JSON
    subscription_id         TEXT,
    discount_id             TEXT,
    line_item_ids           TEXT NOT NULL, -- JSON array
    currency                TEXT NOT NULL,
    subtotal_amount         BIGINT NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount         BIGINT NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount              BIGINT NOT NULL,
    tax_amount              BIGINT NOT NULL CHECK (tax_amount >= 0),
    total_amount            BIGINT NOT NULL CHECK (total_amount = net_amount + tax_amount),
    amount_paid             BIGINT NOT NULL CHECK (amount_paid >= 0),
    balance_applied         BIGINT NOT NULL CHECK (balance_applied >= 0 AND amount_paid + balance_applied <= total_amount),
    tax_breakdown           TEXT NOT NULL, -- JSON array
    period_start            BIGINT,
    period_end              BIGINT,
    attempt_count           BIGINT NOT NULL,
    next_payment_attempt_at BIGINT,
    due_at                  BIGINT,
    finalized_at            BIGINT,
    paid_at                 BIGINT,
    past_due_at             BIGINT,
    uncollectible_at        BIGINT,
    voided_at               BIGINT,
    void_reason             TEXT,
    paid_out_of_band        BOOLEAN NOT NULL,
    memo                    TEXT,
    footer                  TEXT,
    metadata                TEXT NOT NULL, -- JSON object
    event_seq               BIGINT NOT NULL, -- of a draft; then the order's counts
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS invoices_order ON invoices (account_id, order_key);

CREATE UNIQUE INDEX IF NOT EXISTS invoices_sequence ON invoices (account_id, sequence) WHERE sequence IS NOT NULL;

CREATE INDEX IF NOT EXISTS invoices_status ON invoices (account_id, status, id);

CREATE INDEX IF NOT EXISTS invoices_customer ON invoices (account_id, customer_id, id);

CREATE INDEX IF NOT EXISTS invoices_subscription ON invoices (account_id, subscription_id, id) WHERE subscription_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS invoices_due ON invoices (due_at) WHERE status = 'open';

-- Orders of before get their invoices, numbered as they are. Nobody is told: it is no news.
INSERT INTO invoices (account_id, id, order_key, order_id, sequence, number, status, collection_method, billing_reason, customer_id,
    customer_email, customer_name, customer_address, customer_tax_id, line_item_ids, currency, subtotal_amount, discount_amount, net_amount,
    tax_amount, total_amount, amount_paid, balance_applied, tax_breakdown, attempt_count, due_at, finalized_at, paid_at, voided_at,
    paid_out_of_band, metadata, event_seq, created_at, updated_at)
SELECT account_id, 'inv_' || substr(id, 7), id, id, number, 'INV-' || lpad(CAST(number AS TEXT), greatest(6, length(CAST(number AS TEXT))), '0'),
    CASE status WHEN 'pending' THEN 'open' WHEN 'void' THEN 'void' ELSE 'paid' END, 'charge_automatically', billing_reason, customer_id,
    customer_email, billing_name, billing_address, tax_id, line_item_ids, currency, subtotal_amount, discount_amount, net_amount,
    tax_amount, total_amount, paid_amount, 0, tax_breakdown, CASE WHEN paid_amount > 0 THEN 1 ELSE 0 END, created_at, created_at, paid_at, voided_at,
    FALSE, metadata, 0, created_at, updated_at
FROM orders WHERE TRUE
ON CONFLICT DO NOTHING;

UPDATE orders SET invoice_id = 'inv_' || substr(id, 7) WHERE invoice_id IS NULL;

UPDATE line_items SET invoice_id = 'inv_' || substr(order_id, 7) WHERE order_id IS NOT NULL AND invoice_id IS NULL;

UPDATE payments SET invoice_id = 'inv_' || substr(order_id, 7),
    customer_id = (SELECT o.customer_id FROM orders o WHERE o.account_id = payments.account_id AND o.id = payments.order_id)
WHERE order_id IS NOT NULL AND invoice_id IS NULL;

INSERT INTO counters (account_id, name, value)
SELECT account_id, 'invoice_number', MAX(number) FROM orders WHERE TRUE GROUP BY account_id
ON CONFLICT DO NOTHING;
