-- +goose Up

-- What a subscription took from stocks by its changes of plan: a JSON array. What waits since before this step holds nothing, and is not
-- counted when it takes place.
ALTER TABLE subscriptions ADD COLUMN units TEXT NOT NULL DEFAULT '[]';

UPDATE subscriptions SET units = json_array(
    json_object('price_variant', price_variant_id, 'most', MAX(quantity, json_extract(pending_change, '$.plan.quantity')), 'sold', 0, 'held', 0))
WHERE pending_change IS NOT NULL AND json_extract(pending_change, '$.plan.price_variant') = price_variant_id;

UPDATE subscriptions SET units = json_array(
    json_object('price_variant', price_variant_id, 'most', quantity, 'sold', 0, 'held', 0),
    json_object('price_variant', json_extract(pending_change, '$.plan.price_variant'), 'most', json_extract(pending_change, '$.plan.quantity'), 'sold', 0, 'held', 0))
WHERE pending_change IS NOT NULL AND json_extract(pending_change, '$.plan.price_variant') <> price_variant_id;
