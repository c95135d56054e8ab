-- +goose Up

-- What a subscription took from stocks by its changes of plan: a JSON array. What waits since before this step holds nothing, and is not
-- counted when it takes place.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS units TEXT NOT NULL DEFAULT '[]';

UPDATE subscriptions SET units = CAST(json_build_array(
    json_build_object('price_variant', price_variant_id,
        'most', GREATEST(quantity, CAST(CAST(pending_change AS json) #>> '{plan,quantity}' AS bigint)), 'sold', 0, 'held', 0)) AS text)
WHERE pending_change IS NOT NULL AND CAST(pending_change AS json) #>> '{plan,price_variant}' = price_variant_id;

UPDATE subscriptions SET units = CAST(json_build_array(
    json_build_object('price_variant', price_variant_id, 'most', quantity, 'sold', 0, 'held', 0),
    json_build_object('price_variant', CAST(pending_change AS json) #>> '{plan,price_variant}',
        'most', CAST(CAST(pending_change AS json) #>> '{plan,quantity}' AS bigint), 'sold', 0, 'held', 0)) AS text)
WHERE pending_change IS NOT NULL AND CAST(pending_change AS json) #>> '{plan,price_variant}' <> price_variant_id;
