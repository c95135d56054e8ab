-- +goose NO TRANSACTION
-- +goose Up

-- What lists are filtered by, in the order of their ids.
CREATE INDEX IF NOT EXISTS orders_billing_reason ON orders (account_id, billing_reason, id);

CREATE INDEX IF NOT EXISTS orders_customer_email ON orders (account_id, LOWER(customer_email), id);

CREATE INDEX IF NOT EXISTS orders_subscription ON orders (account_id, subscription_id, id) WHERE subscription_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS invoices_billing_reason ON invoices (account_id, billing_reason, id);

CREATE INDEX IF NOT EXISTS invoices_collection_method ON invoices (account_id, collection_method, id);

CREATE INDEX IF NOT EXISTS checkouts_payment_status ON checkouts (account_id, payment_status, id);

CREATE INDEX IF NOT EXISTS checkouts_customer_email ON checkouts (account_id, LOWER(customer_email), id);

CREATE INDEX IF NOT EXISTS checkouts_unpaid ON checkouts (account_id, (status IN ('open', 'expired')), id);

CREATE INDEX IF NOT EXISTS line_items_checkout_product ON line_items (account_id, product_id, checkout_id) WHERE checkout_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS customers_type ON customers (account_id, type, id);

CREATE INDEX IF NOT EXISTS products_type ON products (account_id, type, id);

CREATE INDEX IF NOT EXISTS products_visibility ON products (account_id, visibility, id);

CREATE INDEX IF NOT EXISTS products_has_recurring ON products (account_id, has_recurring, id);

CREATE INDEX IF NOT EXISTS products_slug ON products (account_id, slug);

CREATE INDEX IF NOT EXISTS price_variants_status ON price_variants (account_id, status, id);

CREATE INDEX IF NOT EXISTS price_variants_type ON price_variants (account_id, type, id);

CREATE INDEX IF NOT EXISTS refunds_status ON refunds (account_id, status, id);

CREATE INDEX IF NOT EXISTS refunds_reason ON refunds (account_id, reason, id);

CREATE INDEX IF NOT EXISTS refunds_subscription ON refunds (account_id, subscription_id, id) WHERE subscription_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS subscriptions_discount ON subscriptions (account_id, discount_id, id) WHERE discount_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS subscriptions_cancel_at_period_end ON subscriptions (account_id, cancel_at_period_end, id);

CREATE INDEX IF NOT EXISTS subscriptions_cancellation_reason ON subscriptions (account_id, cancellation_reason, id) WHERE cancellation_reason IS NOT NULL;

CREATE INDEX IF NOT EXISTS discounts_type ON discounts (account_id, type, id);

CREATE INDEX IF NOT EXISTS checkout_links_active ON checkout_links (account_id, active, id);

CREATE INDEX IF NOT EXISTS checkout_links_discount ON checkout_links (account_id, discount_id, id) WHERE discount_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS ai_sites_type ON ai_sites (account_id, type, id);

CREATE INDEX IF NOT EXISTS ai_sites_live ON ai_sites (account_id, is_live, id);

CREATE INDEX IF NOT EXISTS webhook_endpoints_status ON webhook_endpoints (account_id, status, id);

CREATE INDEX IF NOT EXISTS social_accounts_platform ON social_accounts (account_id, platform, id);

CREATE INDEX IF NOT EXISTS social_accounts_ads_status ON social_accounts (account_id, ads_status, id);

CREATE INDEX IF NOT EXISTS ad_actions_channel ON ad_actions (account_id, channel_id, id);

CREATE INDEX IF NOT EXISTS ad_actions_op ON ad_actions (account_id, op, id);

CREATE INDEX IF NOT EXISTS ad_actions_state ON ad_actions (account_id, state, id);


-- Ranges, read as a whole where they hold few rows.
CREATE INDEX IF NOT EXISTS orders_total ON orders (account_id, total_amount, id);

CREATE INDEX IF NOT EXISTS subscriptions_period_end ON subscriptions (account_id, current_period_end, id);

CREATE INDEX IF NOT EXISTS discounts_disabled ON discounts (account_id, disabled_at, id) WHERE disabled_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS discounts_start ON discounts (account_id, starts_at, id) WHERE starts_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS discounts_end ON discounts (account_id, ends_at, id) WHERE ends_at IS NOT NULL;


-- What was dated, paid or is due later than the ids say. A purchase that is paid at once is in none of them.
CREATE INDEX IF NOT EXISTS orders_dated_late ON orders (account_id, created_at, id) WHERE checkout_id IS NULL AND subscription_id IS NULL;

CREATE INDEX IF NOT EXISTS orders_paid_late ON orders (account_id, paid_at, id) WHERE (checkout_id IS NULL AND subscription_id IS NULL OR paid_at > created_at + 3600000000);

CREATE INDEX IF NOT EXISTS invoices_due_late ON invoices (account_id, due_at, id) WHERE due_at > created_at + 3600000000;
