-- +goose Up

-- Who signs in to the dashboard. They belong to no account: a person may be a member of several.
CREATE TABLE people (
    id          TEXT PRIMARY KEY,
    email       TEXT NOT NULL,
    email_key   TEXT NOT NULL, -- in small letters
    password    TEXT NOT NULL, -- argon2id in PHC format
    is_operator BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);

CREATE UNIQUE INDEX people_email ON people (email_key);

CREATE TABLE members (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    person_id  TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'support', 'read_only')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, person_id)
);

CREATE INDEX members_person ON members (person_id, account_id);

CREATE TABLE person_sessions (
    id         TEXT PRIMARY KEY, -- hash of its token
    person_id  TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL, -- that is looked at, empty for none
    agent      TEXT NOT NULL,
    address    TEXT NOT NULL,
    notice     BYTEA, -- sealed: what the next page says once
    proven_at  BIGINT NOT NULL, -- when a credential was last given
    used_at    BIGINT NOT NULL, -- to the hour
    created_at BIGINT NOT NULL
);

CREATE INDEX person_sessions_person ON person_sessions (person_id, used_at);

CREATE INDEX person_sessions_used ON person_sessions (used_at);

-- Links that let somebody do one thing once.
CREATE TABLE person_links (
    id         TEXT PRIMARY KEY, -- hash of its token
    kind       TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'recovery')),
    person_id  TEXT REFERENCES people (id) ON DELETE CASCADE, -- of a recovery; of an invitation, who invites
    account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
    email      TEXT NOT NULL, -- of who is invited
    role       TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX person_links_account ON person_links (account_id, kind, created_at);

CREATE INDEX person_links_person ON person_links (person_id);

CREATE INDEX person_links_expires ON person_links (expires_at);

-- Failed attempts to sign in, counted for an address of e-mail and for one of the network.
CREATE TABLE sign_in_failures (
    id       TEXT PRIMARY KEY, -- hash of what they are counted for
    failures BIGINT NOT NULL,
    began_at BIGINT NOT NULL
);

CREATE INDEX sign_in_failures_began ON sign_in_failures (began_at);
