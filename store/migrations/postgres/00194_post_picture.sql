-- +goose NO TRANSACTION
-- +goose Up

-- A post has a picture, too. Step 195 finds what is there already.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION blog_posts_picture() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    named TEXT;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        named := NEW.cover_url;
    END IF;
    IF TG_OP <> 'INSERT' AND named IS NULL THEN
        DELETE FROM pictures WHERE account_id = OLD.account_id AND owner_id = OLD.id;
    END IF;
    IF named IS NOT NULL THEN
        INSERT INTO pictures (account_id, owner_id, address) VALUES (NEW.account_id, NEW.id, named)
        ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER blog_posts_picture_insert AFTER INSERT ON blog_posts FOR EACH ROW WHEN (NEW.cover_url IS NOT NULL) EXECUTE FUNCTION blog_posts_picture();

CREATE OR REPLACE TRIGGER blog_posts_picture_update AFTER UPDATE ON blog_posts FOR EACH ROW WHEN (OLD.cover_url IS DISTINCT FROM NEW.cover_url) EXECUTE FUNCTION blog_posts_picture();

CREATE OR REPLACE TRIGGER blog_posts_picture_delete AFTER DELETE ON blog_posts FOR EACH ROW WHEN (OLD.cover_url IS NOT NULL) EXECUTE FUNCTION blog_posts_picture();
