-- +goose Up

-- What is refunded of the order, and the ids of the order's payments and refunds.
ALTER TABLE invoices ADD COLUMN credit_notes INTEGER NOT NULL DEFAULT 0 CHECK (credit_notes >= 0 AND credit_notes <= amount_paid);

ALTER TABLE invoices ADD COLUMN payment_ids TEXT NOT NULL DEFAULT '[]'; -- JSON array

ALTER TABLE invoices ADD COLUMN refund_ids TEXT NOT NULL DEFAULT '[]'; -- JSON array

UPDATE invoices SET credit_notes = o.refunded_amount, payment_ids = o.payment_ids, refund_ids = o.refund_ids
FROM orders o WHERE o.account_id = invoices.account_id AND o.id = invoices.order_id AND (o.payment_ids <> '[]' OR o.refund_ids <> '[]');
