-- +goose Up

-- A post has a picture, too. Step 195 finds what is there already.
-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS blog_posts_picture_insert AFTER INSERT ON blog_posts WHEN NEW.cover_url IS NOT NULL BEGIN
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.account_id, NEW.id, NEW.cover_url WHERE NEW.cover_url IS NOT NULL
    ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS blog_posts_picture_update AFTER UPDATE ON blog_posts WHEN OLD.cover_url IS NOT NEW.cover_url BEGIN
    DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id AND NEW.cover_url IS NULL;
    INSERT INTO pictures (account_id, owner_id, address) SELECT NEW.account_id, NEW.id, NEW.cover_url WHERE NEW.cover_url IS NOT NULL
    ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER IF NOT EXISTS blog_posts_picture_delete AFTER DELETE ON blog_posts WHEN OLD.cover_url IS NOT NULL BEGIN
    DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
END;
-- +goose StatementEnd
