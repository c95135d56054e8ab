-- +goose Up

-- Whether what a line gives may ask for a licence key: that is looked up when it is given.
ALTER TABLE line_items ADD COLUMN licensed INTEGER NOT NULL DEFAULT 0;

UPDATE line_items SET licensed = TRUE WHERE gives;
