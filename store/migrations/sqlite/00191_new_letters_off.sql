-- +goose Up

-- Letters that are switched off, of the kinds that the release before does not know. Such a server refuses every change of an account that has one of
-- them in letters_off.
ALTER TABLE accounts ADD COLUMN new_letters_off TEXT NOT NULL DEFAULT '[]';
