-- +goose NO TRANSACTION
-- +goose Up

-- PostgreSQL takes a value of which it has seen one row for one of a kind. Of a table that had a single row when it was last looked at, it would take an
-- account to be as narrow as an id, and read all that the account has by whichever index begins with the account. So it is told that many rows are
-- of one account, and of one channel: that makes no difference once it has seen which accounts have most rows.
ALTER TABLE activities ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_accounts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_actions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_audience_members ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_audiences ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_business_centers ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_campaigns ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_conversion_destinations ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_conversions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_figure_days ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_figure_months ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_groups ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_limits ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ads ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ai_site_generations ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ai_site_versions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ai_sites ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE api_keys ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE blog_posts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE checkout_links ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE checkouts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE content_texts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE counters ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE customers ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE detachments ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE discount_redemptions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE discounts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE events ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE experience_files ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE experiences ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE file_removals ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE file_usage ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE file_versions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE files ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE filter_entries ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE global_names ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE grant_downloads ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE grants ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE idempotency_keys ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE imports ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE invoices ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE leads ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE legal_pages ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE letter_windows ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE letters ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE license_activations ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE license_keys ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE license_signing_keys ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE license_waits ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE line_items ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE members ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE metric_quarters ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE metric_years ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE orders ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE payment_guards ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE payment_methods ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE payments ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE person_links ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE person_sessions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE portal_links ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE portal_sessions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE price_variants ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE product_deliverables ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE products ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE provider_events ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE refunds ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE request_gaps ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE requests ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE sandbox_audiences ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE sandbox_channels ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE sandbox_conversions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE sandbox_entities ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE sandbox_members ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE sandbox_segments ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE slugs ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE social_accounts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE social_connections ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE social_posts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE subscriptions ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE test_charges ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE test_refunds ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE upload_parts ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE uploads ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE webhook_claims ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE webhook_deliveries ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE webhook_endpoints ALTER COLUMN account_id SET (n_distinct = 20);

ALTER TABLE ad_accounts ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_actions ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_audiences ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_business_centers ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_campaigns ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_conversion_destinations ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_figure_days ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_figure_months ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ad_groups ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE ads ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE sandbox_audiences ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE sandbox_conversions ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE sandbox_entities ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE sandbox_members ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE sandbox_segments ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE social_connections ALTER COLUMN channel_id SET (n_distinct = 20);

ALTER TABLE social_posts ALTER COLUMN channel_id SET (n_distinct = 20);

-- The states in which a delivery ends, and the one before.
ALTER TABLE webhook_deliveries ALTER COLUMN state SET (n_distinct = 3);
