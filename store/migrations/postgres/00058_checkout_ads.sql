-- +goose Up

-- Whether the pages ask a buyer if ad networks may be told of the purchase.
ALTER TABLE accounts ADD COLUMN checkout_ads_consent BOOLEAN NOT NULL DEFAULT FALSE;

-- What the buyer answered, and the visit that they made then. It is NULL without a yes, and once the checkout is completed or has expired.
ALTER TABLE checkouts ADD COLUMN ads_consent BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE checkouts ADD COLUMN ads_visit TEXT; -- JSON
