-- +goose Up

-- What the server keeps to get and show the certificates of sites' domains: keys, certificates, challenges, its account at the certificate
-- authority. Sealed, by path. It belongs to the server, not to one account: the authority knows the server alone.
CREATE TABLE site_certificate_files (
    path        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sealed      BYTEA NOT NULL,
    modified_at BIGINT NOT NULL
);

-- Who works on a certificate, until when. Others have it after that time, so that nobody who was killed holds it for ever.
CREATE TABLE site_certificate_locks (
    name        TEXT    NOT NULL PRIMARY KEY,
    owner       TEXT    NOT NULL,
    lease_until BIGINT NOT NULL
);

-- How often in a row a verified domain was refused a certificate.
ALTER TABLE ai_sites ADD COLUMN domain_refusals BIGINT NOT NULL DEFAULT 0;
