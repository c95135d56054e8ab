-- +goose Up

-- Whether the pages ask a buyer if ad networks may be told of the purchase.
ALTER TABLE accounts ADD COLUMN checkout_ads_consent INTEGER NOT NULL DEFAULT 0;

-- What the buyer answered, and the visit that they made then. It is NULL without a yes, and once the checkout is completed or has expired.
ALTER TABLE checkouts ADD COLUMN ads_consent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkouts ADD COLUMN ads_visit TEXT; -- JSON
