-- +goose Up

ALTER TABLE orders ADD COLUMN invoice_id TEXT;

ALTER TABLE orders ADD COLUMN subscription_id TEXT;

ALTER TABLE orders ADD COLUMN discount_id TEXT;

ALTER TABLE orders ADD COLUMN period_start INTEGER;

ALTER TABLE orders ADD COLUMN period_end INTEGER;

-- What the customer's credit paid of the total.
ALTER TABLE orders ADD COLUMN balance_applied INTEGER NOT NULL DEFAULT 0 CHECK (balance_applied >= 0);

ALTER TABLE orders ADD COLUMN next_payment_attempt_at INTEGER;

-- A period of a subscription is billed at most once.
CREATE UNIQUE INDEX orders_period ON orders (account_id, subscription_id, period_start)
    WHERE subscription_id IS NOT NULL AND billing_reason IN ('subscription_create', 'subscription_cycle');

CREATE INDEX orders_discount ON orders (account_id, discount_id, id) WHERE discount_id IS NOT NULL;

-- What is paid: an open checkout, which becomes an order, or an invoice, whose order exists.
ALTER TABLE payments ADD COLUMN purpose TEXT NOT NULL DEFAULT 'checkout' CHECK (purpose IN ('checkout', 'invoice'));

ALTER TABLE payments ADD COLUMN invoice_id TEXT;

ALTER TABLE payments ADD COLUMN customer_id TEXT;

-- At most one payment of an invoice is under way, and at most one of an order has succeeded.
CREATE UNIQUE INDEX payments_invoice_open ON payments (account_id, invoice_id)
    WHERE invoice_id IS NOT NULL AND status IN ('pending', 'requires_action');

CREATE UNIQUE INDEX payments_order_paid ON payments (account_id, order_id) WHERE order_id IS NOT NULL AND status = 'succeeded';

CREATE INDEX payments_invoice ON payments (account_id, invoice_id);

-- A line of a checkout, or of an order and its invoice, which have copies of their own. The table is made anew because
-- an ad-hoc line of an invoice has no product.
CREATE TABLE line_items_new (
    account_id         TEXT NOT NULL,
    id                 TEXT NOT NULL,
    checkout_id        TEXT,
    order_id           TEXT,
    invoice_id         TEXT,
    kind               TEXT NOT NULL CHECK (kind IN ('price', 'setup_fee', 'proration', 'custom')),
    product_id         TEXT,
    price_variant_id   TEXT,
    product_name       TEXT NOT NULL, -- the names as they were then
    price_variant_name TEXT,
    description        TEXT, -- NULL: the names say it
    position           INTEGER NOT NULL,
    quantity           INTEGER NOT NULL CHECK (quantity > 0),
    custom_amount      INTEGER,
    unit_amount        INTEGER NOT NULL CHECK (unit_amount >= 0),
    currency           TEXT NOT NULL,
    subtotal_amount    INTEGER NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount    INTEGER NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount         INTEGER NOT NULL,
    tax_amount         INTEGER,
    tax_rate_bps       INTEGER NOT NULL CHECK (tax_rate_bps >= 0),
    tax_name           TEXT,
    tax_inclusive      INTEGER NOT NULL,
    total_amount       INTEGER NOT NULL CHECK (total_amount >= 0),
    period_start       INTEGER,
    period_end         INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT;

INSERT INTO line_items_new (account_id, id, checkout_id, order_id, kind, product_id, price_variant_id, product_name, price_variant_name,
    position, quantity, custom_amount, unit_amount, currency, subtotal_amount, discount_amount, net_amount, tax_amount, tax_rate_bps,
    tax_inclusive, total_amount, created_at, updated_at)
SELECT account_id, id, checkout_id, order_id, 'price', product_id, price_variant_id, product_name, price_variant_name,
    position, quantity, custom_amount, unit_amount, currency, subtotal_amount, discount_amount, net_amount, tax_amount, 0,
    0, total_amount, created_at, updated_at
FROM line_items;

DROP TABLE line_items;

ALTER TABLE line_items_new RENAME TO line_items;

CREATE INDEX line_items_checkout ON line_items (account_id, checkout_id);

CREATE INDEX line_items_order ON line_items (account_id, order_id);

CREATE INDEX line_items_product ON line_items (account_id, product_id, order_id);

CREATE INDEX line_items_price_variant ON line_items (account_id, price_variant_id, order_id);

CREATE INDEX line_items_invoice ON line_items (account_id, invoice_id);

-- A draft has no number and no order; every other invoice has both. The snapshot says whom it was issued to.
CREATE TABLE invoices (
    account_id              TEXT NOT NULL,
    id                      TEXT NOT NULL,
    order_key               TEXT NOT NULL, -- the id of its order, from the draft on: the ordering key of its events
    order_id                TEXT, -- NULL for a draft
    sequence                INTEGER, -- counts the account's invoices
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
    subtotal_amount         INTEGER NOT NULL CHECK (subtotal_amount >= 0),
    discount_amount         INTEGER NOT NULL CHECK (discount_amount >= 0 AND discount_amount <= subtotal_amount),
    net_amount              INTEGER NOT NULL,
    tax_amount              INTEGER NOT NULL CHECK (tax_amount >= 0),
    total_amount            INTEGER NOT NULL CHECK (total_amount = net_amount + tax_amount),
    amount_paid             INTEGER NOT NULL CHECK (amount_paid >= 0),
    balance_applied         INTEGER NOT NULL CHECK (balance_applied >= 0 AND amount_paid + balance_applied <= total_amount),
    tax_breakdown           TEXT NOT NULL, -- JSON array
    period_start            INTEGER,
    period_end              INTEGER,
    attempt_count           INTEGER NOT NULL,
    next_payment_attempt_at INTEGER,
    due_at                  INTEGER,
    finalized_at            INTEGER,
    paid_at                 INTEGER,
    past_due_at             INTEGER,
    uncollectible_at        INTEGER,
    voided_at               INTEGER,
    void_reason             TEXT,
    paid_out_of_band        INTEGER NOT NULL,
    memo                    TEXT,
    footer                  TEXT,
    metadata                TEXT NOT NULL, -- JSON object
    event_seq               INTEGER NOT NULL, -- of a draft; then the order's counts
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
) STRICT;

CREATE UNIQUE INDEX invoices_order ON invoices (account_id, order_key);

CREATE UNIQUE INDEX invoices_sequence ON invoices (account_id, sequence) WHERE sequence IS NOT NULL;

CREATE INDEX invoices_status ON invoices (account_id, status, id);

CREATE INDEX invoices_customer ON invoices (account_id, customer_id, id);

CREATE INDEX invoices_subscription ON invoices (account_id, subscription_id, id) WHERE subscription_id IS NOT NULL;

CREATE INDEX invoices_due ON invoices (due_at) WHERE status = 'open';

-- Orders of before get their invoices, numbered as they are. Nobody is told: it is no news.
INSERT INTO invoices (account_id, id, order_key, order_id, sequence, number, status, collection_method, billing_reason, customer_id,
    customer_email, customer_name, customer_address, customer_tax_id, line_item_ids, currency, subtotal_amount, discount_amount, net_amount,
    tax_amount, total_amount, amount_paid, balance_applied, tax_breakdown, attempt_count, due_at, finalized_at, paid_at, voided_at,
    paid_out_of_band, metadata, event_seq, created_at, updated_at)
SELECT account_id, 'inv_' || substr(id, 7), id, id, number, 'INV-' || printf('%06d', number),
    CASE status WHEN 'pending' THEN 'open' WHEN 'void' THEN 'void' ELSE 'paid' END, 'charge_automatically', billing_reason, customer_id,
    customer_email, billing_name, billing_address, tax_id, line_item_ids, currency, subtotal_amount, discount_amount, net_amount,
    tax_amount, total_amount, paid_amount, 0, tax_breakdown, CASE WHEN paid_amount > 0 THEN 1 ELSE 0 END, created_at, created_at, paid_at, voided_at,
    0, metadata, 0, created_at, updated_at
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
