-- +goose Up

-- uses counted who opened a link, programs that only look at it among them. From now on it counts what was bought by it, or is being paid.
UPDATE checkout_links SET uses = 0;

UPDATE checkout_links SET uses = CASE WHEN max_uses < s.bought THEN max_uses ELSE s.bought END
FROM (
    SELECT account_id, source ->> 'checkout_link' AS link, COUNT(*) AS bought FROM checkouts
    WHERE status IN ('processing', 'completed') AND source LIKE '%"clink%' GROUP BY account_id, source ->> 'checkout_link'
) AS s
WHERE s.account_id = checkout_links.account_id AND s.link = checkout_links.id;
