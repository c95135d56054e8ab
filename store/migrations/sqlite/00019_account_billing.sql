-- +goose Up

-- How an account bills. Invoices are numbered from first_invoice_number on: the counter stands below it until there is one.
ALTER TABLE accounts ADD COLUMN invoice_prefix TEXT NOT NULL DEFAULT 'INV';

ALTER TABLE accounts ADD COLUMN first_invoice_number INTEGER NOT NULL DEFAULT 1;

ALTER TABLE accounts ADD COLUMN tax TEXT NOT NULL DEFAULT '{"mode":"none","behavior":"exclusive","rates":[]}';

ALTER TABLE accounts ADD COLUMN proration_behavior TEXT NOT NULL DEFAULT 'invoice_immediately' CHECK (proration_behavior IN ('invoice_immediately', 'next_invoice', 'next_period'));

ALTER TABLE accounts ADD COLUMN dunning TEXT NOT NULL DEFAULT '{"intervals_days":[2,5,7,7],"on_exhausted":"cancel"}';
