-- +goose Up

-- Whom an ad group is shown to, in the words of all networks beside the network's own.
ALTER TABLE ad_groups RENAME COLUMN targeting TO platform_targeting;
ALTER TABLE ad_groups ADD COLUMN targeting TEXT NOT NULL DEFAULT '{}'; -- JSON object

-- Where an ad account is, and whom its ads in the EU name as who profits and who pays: here, and at the network.
ALTER TABLE ad_accounts ADD COLUMN country TEXT NOT NULL DEFAULT '';
ALTER TABLE ad_accounts ADD COLUMN dsa_beneficiary TEXT NOT NULL DEFAULT '';
ALTER TABLE ad_accounts ADD COLUMN dsa_payor TEXT NOT NULL DEFAULT '';
ALTER TABLE ad_accounts ADD COLUMN default_beneficiary TEXT NOT NULL DEFAULT '';
ALTER TABLE ad_accounts ADD COLUMN default_payor TEXT NOT NULL DEFAULT '';
