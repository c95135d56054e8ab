-- +goose NO TRANSACTION
-- +goose Up

-- A customer whom the seller named by an id of their own does not own an address that was only typed at their checkout: email_key
-- is NULL then. Those that there are were made by a checkout which was there before them, and nobody has changed their address since.
UPDATE customers SET email_key = NULL
WHERE external_id IS NOT NULL AND email_key IS NOT NULL AND EXISTS (
	SELECT 1 FROM checkouts c
	WHERE c.account_id = customers.account_id AND c.customer_id = customers.id AND c.status = 'completed' AND c.created_at <= customers.created_at
		AND c.external_customer_id = customers.external_id AND LOWER(c.customer_email) = customers.email_key AND NOT c.email_verified);

-- Letters that ask whose an address is are counted in letter_windows, as all are.
DROP INDEX IF EXISTS checkouts_verification;
ALTER TABLE checkouts DROP COLUMN IF EXISTS verification_sent_at;
ALTER TABLE checkouts DROP COLUMN IF EXISTS verifications_sent;
