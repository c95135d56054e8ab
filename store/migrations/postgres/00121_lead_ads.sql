-- +goose Up

-- Whether the forms of sites ask visitors if ad networks may be told of them.
ALTER TABLE accounts ADD COLUMN lead_ads_consent BOOLEAN NOT NULL DEFAULT FALSE;

-- What a visitor answered in the form that made the lead. No other lead has been asked.
ALTER TABLE leads ADD COLUMN ads_consent BOOLEAN NOT NULL DEFAULT FALSE;

-- Networks are told of leads, too.
ALTER TABLE ad_conversions DROP CONSTRAINT ad_conversions_source_check;
ALTER TABLE ad_conversions ADD CONSTRAINT ad_conversions_source_check CHECK (source IN ('order', 'lead', 'api'));
