-- +goose NO TRANSACTION
-- +goose Up

-- What an order needs to know so that it shows as refundable what can be refunded: who took its money and can give it back, and whether
-- the balance that paid for it is gone with its customer.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS refund_provider TEXT;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS balance_gone BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE orders SET refund_provider = (
    SELECT p.provider FROM payments p
    WHERE p.account_id = orders.account_id AND p.order_id = orders.id AND p.status = 'succeeded' AND p.amount > 0 AND p.provider <> 'out_of_band'
) WHERE paid_amount > 0;

UPDATE orders SET balance_gone = TRUE WHERE balance_applied > 0 AND EXISTS (
    SELECT 1 FROM customers c WHERE c.account_id = orders.account_id AND c.id = orders.customer_id AND c.deleted_at IS NOT NULL
);
