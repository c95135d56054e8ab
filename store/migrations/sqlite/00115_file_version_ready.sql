-- +goose Up

-- When a version became ready, as an id of that moment, which tells whether a grant is younger. Of those that there are it is when their upload
-- began.
ALTER TABLE file_versions ADD COLUMN ready TEXT;

UPDATE file_versions SET ready = substr(id, 6) WHERE status = 'ready' AND ready IS NULL;
