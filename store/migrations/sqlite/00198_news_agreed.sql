-- +goose Up

-- The address for which the buyer of a checkout ticked that they want news, as a hash.
ALTER TABLE checkouts ADD COLUMN news_for TEXT;

-- What a customer ticked at a checkout, as JSON. It has a column of its own: a server of the release before would drop the words from marketing_consent.
ALTER TABLE customers ADD COLUMN news_words TEXT;
