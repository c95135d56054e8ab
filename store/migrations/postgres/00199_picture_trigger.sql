-- +goose NO TRANSACTION
-- +goose Up

-- One function for all that have a picture. It is told the column of the account, that of the address, and that of a list whose first address is taken
-- where there is no other.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION picture_owner() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    row_of JSONB := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
    account TEXT := row_of ->> TG_ARGV[0];
    named TEXT;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        named := COALESCE(row_of ->> TG_ARGV[1], CAST(row_of ->> TG_ARGV[2] AS json) ->> 0);
    END IF;
    IF TG_OP <> 'INSERT' AND named IS NULL THEN
        DELETE FROM pictures WHERE account_id = account AND owner_id = row_of ->> 'id';
    END IF;
    IF named IS NOT NULL THEN
        INSERT INTO pictures (account_id, owner_id, address) VALUES (account, row_of ->> 'id', named)
        ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER accounts_picture_insert AFTER INSERT ON accounts FOR EACH ROW WHEN (NEW.logo_url IS NOT NULL) EXECUTE FUNCTION picture_owner('id', 'logo_url');

CREATE OR REPLACE TRIGGER accounts_picture_update AFTER UPDATE ON accounts FOR EACH ROW WHEN (OLD.logo_url IS DISTINCT FROM NEW.logo_url) EXECUTE FUNCTION picture_owner('id', 'logo_url');

CREATE OR REPLACE TRIGGER accounts_picture_delete AFTER DELETE ON accounts FOR EACH ROW WHEN (OLD.logo_url IS NOT NULL) EXECUTE FUNCTION picture_owner('id', 'logo_url');

CREATE OR REPLACE TRIGGER products_picture_insert AFTER INSERT ON products FOR EACH ROW WHEN (NEW.cover_url IS NOT NULL OR NEW.images <> '[]') EXECUTE FUNCTION picture_owner('account_id', 'cover_url', 'images');

CREATE OR REPLACE TRIGGER products_picture_update AFTER UPDATE ON products FOR EACH ROW WHEN (OLD.cover_url IS DISTINCT FROM NEW.cover_url
    OR NEW.cover_url IS NULL AND OLD.images <> NEW.images AND CAST(OLD.images AS json) ->> 0 IS DISTINCT FROM CAST(NEW.images AS json) ->> 0) EXECUTE FUNCTION picture_owner('account_id', 'cover_url', 'images');

CREATE OR REPLACE TRIGGER products_picture_delete AFTER DELETE ON products FOR EACH ROW WHEN (OLD.cover_url IS NOT NULL OR OLD.images <> '[]') EXECUTE FUNCTION picture_owner('account_id', 'cover_url', 'images');

CREATE OR REPLACE TRIGGER blog_posts_picture_insert AFTER INSERT ON blog_posts FOR EACH ROW WHEN (NEW.cover_url IS NOT NULL) EXECUTE FUNCTION picture_owner('account_id', 'cover_url');

CREATE OR REPLACE TRIGGER blog_posts_picture_update AFTER UPDATE ON blog_posts FOR EACH ROW WHEN (OLD.cover_url IS DISTINCT FROM NEW.cover_url) EXECUTE FUNCTION picture_owner('account_id', 'cover_url');

CREATE OR REPLACE TRIGGER blog_posts_picture_delete AFTER DELETE ON blog_posts FOR EACH ROW WHEN (OLD.cover_url IS NOT NULL) EXECUTE FUNCTION picture_owner('account_id', 'cover_url');

DROP FUNCTION IF EXISTS accounts_picture();

DROP FUNCTION IF EXISTS products_picture();

DROP FUNCTION IF EXISTS blog_posts_picture();
