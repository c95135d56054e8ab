-- +goose Up

-- A post has a picture, too: see migration 190.
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS blog_posts_picture_insert AFTER INSERT ON blog_posts WHEN NEW.cover_url IS NOT NULL BEGIN
    INSERT INTO pictures (account_id, owner_id, address) VALUES (NEW.account_id, NEW.id, NEW.cover_url) ON CONFLICT DO NOTHING;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS blog_posts_picture_update AFTER UPDATE ON blog_posts WHEN OLD.cover_url IS NOT NEW.cover_url BEGIN
    DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.account_id, NEW.id, NEW.cover_url WHERE NEW.cover_url IS NOT NULL ON CONFLICT DO NOTHING;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS blog_posts_picture_delete AFTER DELETE ON blog_posts WHEN OLD.cover_url IS NOT NULL BEGIN
    DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
END;
-- +goose StatementEnd

INSERT INTO pictures (account_id, owner_id, address) SELECT account_id, id, cover_url FROM blog_posts WHERE cover_url IS NOT NULL ON CONFLICT DO NOTHING;
