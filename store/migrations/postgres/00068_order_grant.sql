-- +goose Up

-- Whether the payment of a line gives its product: a tip gives nothing, and what was paid before this gives nothing afterwards.
ALTER TABLE line_items ADD COLUMN gives BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE line_items SET gives = TRUE WHERE kind = 'price' AND subscription_id IS NULL
    AND EXISTS (SELECT 1 FROM products p WHERE p.account_id = line_items.account_id AND p.id = line_items.product_id AND p.type <> 'tip')
    AND (EXISTS (SELECT 1 FROM checkouts c WHERE c.account_id = line_items.account_id AND c.id = line_items.checkout_id AND c.status IN ('open', 'processing'))
        OR EXISTS (SELECT 1 FROM invoices i WHERE i.account_id = line_items.account_id AND i.id = line_items.invoice_id AND i.paid_at IS NULL));

-- What the payment of an order gave, and what a subscription's grant says. A subscription that is older gives with its next change.
ALTER TABLE orders ADD COLUMN grant_ids TEXT NOT NULL DEFAULT '[]'; -- JSON array
ALTER TABLE subscriptions ADD COLUMN granted TEXT; -- JSON

-- Whether subscribers keep what they have while a payment is past due.
ALTER TABLE accounts ADD COLUMN past_due_access TEXT NOT NULL DEFAULT 'keep' CHECK (past_due_access IN ('keep', 'suspend'));
