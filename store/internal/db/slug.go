package db

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/tillwright/tillwright/store/core"
	"golang.org/x/text/unicode/norm"
)

const slugMaxLength = 120

// SlugPattern is what every slug and handle looks like.
var SlugPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*$`)

// slugMessage is what a caller is told about a slug that cannot be one.
const slugMessage = "A slug has lower-case letters, digits and single hyphens between them, at most 120 in all."

// IsSlug reports whether a text can be a slug.
func IsSlug(s string) bool { return len(s) <= slugMaxLength && SlugPattern.MatchString(s) }

// letters are those of Latin alphabets that are no plain letter with an accent.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// Slugify makes a slug from a name, or from the kind where the name has nothing to make one from. It leaves room
// for a number behind it.
func Slugify(name string, kind core.Kind) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(letters.Replace(strings.ToLower(name))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // an accent, taken off its letter
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= slugMaxLength-20 {
			break
		}
	}
	if slug := strings.Trim(b.String(), "-"); slug != "" {
		return slug
	}
	return strings.ReplaceAll(string(kind), "_", "-")
}

// TakeSlug gives an object its slug: the wanted one, or one made from the name, numbered when that is taken.
// A former slug of another object may be taken. It returns CodeInvalid on `slug` for one that is in use.
func (u *Unit) TakeSlug(ctx context.Context, kind core.Kind, account, objectID, wanted, name string) (string, error) {
	if wanted == "" {
		return u.takeFreeSlug(ctx, kind, account, objectID, Slugify(name, kind))
	}
	if !IsSlug(wanted) {
		return "", core.Invalid("slug", slugMessage)
	}
	rows, err := u.Exec(ctx, `
		INSERT INTO slugs AS s (account_id, kind, slug, object_id, current) VALUES (?, ?, ?, ?, TRUE)
		ON CONFLICT (account_id, kind, slug) DO UPDATE SET object_id = excluded.object_id, current = TRUE
		WHERE NOT s.current OR s.object_id = excluded.object_id`, account, kind, wanted, objectID)
	if err != nil {
		return "", fmt.Errorf("take slug: %w", err)
	}
	if rows == 0 {
		return "", core.Invalid("slug", "This slug is in use. Choose another one.")
	}
	return wanted, nil
}

// ChangeSlug is takeSlug for an object that has one: the former slug goes on resolving to it.
func (u *Unit) ChangeSlug(ctx context.Context, kind core.Kind, account, objectID, wanted, name string) (string, error) {
	slug, err := u.TakeSlug(ctx, kind, account, objectID, wanted, name)
	if err != nil {
		return "", err
	}
	_, err = u.Exec(ctx, `
		UPDATE slugs SET current = FALSE WHERE account_id = ? AND object_id = ? AND kind = ? AND slug <> ? AND current`,
		account, objectID, kind, slug)
	return slug, err
}

// DropSlugs frees the slugs of an object that is deleted.
func (u *Unit) DropSlugs(ctx context.Context, kind core.Kind, account, objectID string) error {
	_, err := u.Exec(ctx, `DELETE FROM slugs WHERE account_id = ? AND object_id = ? AND kind = ?`, account, objectID, kind)
	return err
}

// takeFreeSlug takes base, or base-2, base-3 and so on. A violated key would end the transaction on PostgreSQL,
// so a clash shows in the rows affected.
func (u *Unit) takeFreeSlug(ctx context.Context, kind core.Kind, account, objectID, base string) (string, error) {
	for slug := base; ; {
		rows, err := u.Exec(ctx, `
			INSERT INTO slugs (account_id, kind, slug, object_id, current) VALUES (?, ?, ?, ?, TRUE)
			ON CONFLICT (account_id, kind, slug) DO NOTHING`, account, kind, slug, objectID)
		if err != nil {
			return "", fmt.Errorf("take slug: %w", err)
		}
		if rows == 1 {
			return slug, nil
		}
		number, err := FreeNumber(func(number int) (bool, error) { return u.slugTaken(ctx, kind, account, Numbered(base, number)) })
		if err != nil {
			return "", err
		}
		slug = Numbered(base, number)
	}
}

// Numbered returns the name with a number behind it.
func Numbered(base string, number int) string { return base + "-" + strconv.Itoa(number) }

// FreeNumber finds a number from 2 on that is not taken: it doubles until one is free, then halves the stretch in
// between, so that a thousand objects of one name do not cost a thousand look-ups.
func FreeNumber(isTaken func(number int) (bool, error)) (int, error) {
	taken, free := 1, 2
	for {
		clash, err := isTaken(free)
		if err != nil {
			return 0, err
		}
		if !clash {
			break
		}
		taken, free = free, free*2
	}
	for free-taken > 1 {
		middle := (taken + free) / 2
		clash, err := isTaken(middle)
		if err != nil {
			return 0, err
		}
		if clash {
			taken = middle
		} else {
			free = middle
		}
	}
	return free, nil
}

func (u *Unit) slugTaken(ctx context.Context, kind core.Kind, account, slug string) (bool, error) {
	row, err := Get[int](ctx, u.db, `SELECT 1 FROM slugs WHERE account_id = ? AND kind = ? AND slug = ?`, account, kind, slug)
	return row != nil, err
}

// RefWhere returns the WHERE clause, and its arguments, that finds an account's object by id
// or by slug, a former one too.
func RefWhere(kind core.Kind, account, ref string) (string, []any) {
	if id, ok := core.ParseID(kind, ref); ok {
		return " WHERE account_id = ? AND id = ?", []any{account, id}
	}
	return " WHERE account_id = ? AND id = (SELECT object_id FROM slugs WHERE account_id = ? AND kind = ? AND slug = ?)",
		[]any{account, account, kind, ref}
}
