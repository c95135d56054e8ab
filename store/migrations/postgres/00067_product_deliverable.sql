-- +goose Up

-- What the buyers of a product receive. A row is never changed: id and removed are made of the time, like the ids of grants, so that
-- they tell what was on the list when something was sold.
CREATE TABLE product_deliverables (
    account_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    product_id TEXT NOT NULL,
    position   BIGINT NOT NULL,
    removed    TEXT, -- NULL = it is on the list
    type       TEXT NOT NULL CHECK (type IN ('file', 'license_key', 'link', 'experience')),
    ref        TEXT,
    name       TEXT,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, product_id) REFERENCES products (account_id, id)
);

CREATE INDEX product_deliverables_product ON product_deliverables (account_id, product_id, position);

CREATE INDEX product_deliverables_ref ON product_deliverables (account_id, type, ref) WHERE removed IS NULL AND ref IS NOT NULL;

INSERT INTO product_deliverables (account_id, id, product_id, position, type, ref, name)
SELECT p.account_id, substr(p.id, 6) || '-' || (d.place - 1), p.id, d.place - 1, d.value ->> 'type', d.value ->> 'ref', d.value ->> 'name'
FROM products p, json_array_elements(CASE WHEN p.deliverables LIKE '[%' THEN p.deliverables::json ELSE '[]'::json END) WITH ORDINALITY AS d (value, place);

-- Whether a product has deliverables, so that one without is read by one statement.
ALTER TABLE products ADD COLUMN delivers BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE products SET delivers = TRUE WHERE deliverables LIKE '[{%';

ALTER TABLE products DROP COLUMN deliverables;

-- Who receives what is put on the list later.
ALTER TABLE products ADD COLUMN delivery_updates TEXT NOT NULL DEFAULT 'all_buyers' CHECK (delivery_updates IN ('all_buyers', 'new_buyers'));
