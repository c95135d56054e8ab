-- +goose NO TRANSACTION
-- +goose Up

-- A post has a picture, too: see migration 190.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION blog_posts_picture() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.cover_url IS NOT NULL THEN
        INSERT INTO pictures (account_id, owner_id, address) VALUES (NEW.account_id, NEW.id, NEW.cover_url) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER blog_posts_picture_insert AFTER INSERT ON blog_posts FOR EACH ROW WHEN (NEW.cover_url IS NOT NULL) EXECUTE FUNCTION blog_posts_picture();

CREATE OR REPLACE TRIGGER blog_posts_picture_update AFTER UPDATE ON blog_posts FOR EACH ROW WHEN (OLD.cover_url IS DISTINCT FROM NEW.cover_url) EXECUTE FUNCTION blog_posts_picture();

CREATE OR REPLACE TRIGGER blog_posts_picture_delete AFTER DELETE ON blog_posts FOR EACH ROW WHEN (OLD.cover_url IS NOT NULL) EXECUTE FUNCTION blog_posts_picture();

INSERT INTO pictures (account_id, owner_id, address) SELECT account_id, id, cover_url FROM blog_posts WHERE cover_url IS NOT NULL ON CONFLICT DO NOTHING;
