-- +goose Up

-- Letters that are no copies of one to a team are sent first.
CREATE INDEX people_letters_first ON people_letters (due_at) WHERE letter_id IS NULL;
