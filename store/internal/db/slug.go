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

// SlugPattern is the form of every slug and handle.
var SlugPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*$`)

// slugMessage tells a caller what a slug looks like.
const slugMessage = "A slug has lower-case letters, digits and single hyphens between them, at most 120 in all."

// slugReserved is what stands where a slug would in the path of a list's export.
const slugReserved = "export"

// IsSlug reports whether a text can be a slug.
func IsSlug(s string) bool { return len(s) <= slugMaxLength && SlugPattern.MatchString(s) }

// letters replaces the letters of Latin alphabets that are more than a plain letter with an accent.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// Slugify makes a slug from a name, or from the kind if no letter or digit of the name can be used. It is short enough that a
// number can be put behind it.
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

// TakeSlug gives an object a slug and returns it. That is the wanted one, or, if none is wanted, one made from the name, with a number if that is in
// use. A former slug of another object counts as free. A wanted slug that is malformed or in use is CodeInvalid on slug.
func (u *Unit) TakeSlug(ctx context.Context, kind core.Kind, account, objectID, wanted, name string) (string, error) {
	if wanted == "" {
		return u.takeFreeSlug(ctx, kind, account, objectID, Slugify(name, kind))
	}
	if !IsSlug(wanted) {
		return "", core.Invalid("slug", slugMessage)
	}
	if wanted == slugReserved {
		return "", core.Invalid("slug", "The slug "+slugReserved+" is reserved. Choose another one.")
	}
	// No row is changed if another object has the slug now; a former slug of one is taken over.
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

// ChangeSlug does what TakeSlug does for an object that has a slug already. The former slug still leads to the object, until
// another one takes it.
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

// DropSlugs frees all slugs of an object that is deleted.
func (u *Unit) DropSlugs(ctx context.Context, kind core.Kind, account, objectID string) error {
	_, err := u.Exec(ctx, `DELETE FROM slugs WHERE account_id = ? AND object_id = ? AND kind = ?`, account, objectID, kind)
	return err
}

// takeFreeSlug takes base, or base-2, base-3 and so on. Whether it was free shows in the number of rows, because a violated key
// would end the transaction on PostgreSQL.
func (u *Unit) takeFreeSlug(ctx context.Context, kind core.Kind, account, objectID, base string) (string, error) {
	if base == slugReserved {
		base = Numbered(base, 2)
	}
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

// Numbered returns the name with a hyphen and the number behind it.
func Numbered(base string, number int) string { return base + "-" + strconv.Itoa(number) }

// FreeNumber returns a number from 2 on that is not taken. It doubles the number until one is free, and then halves the distance to the last taken
// one. So a thousand objects of one name do not cost a thousand look-ups.
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

// slugTaken reports whether any object has, or once had, the slug.
func (u *Unit) slugTaken(ctx context.Context, kind core.Kind, account, slug string) (bool, error) {
	row, err := Get[int](ctx, u, `SELECT 1 FROM slugs WHERE account_id = ? AND kind = ? AND slug = ?`, account, kind, slug)
	return row != nil, err
}

// RefWhere returns the WHERE clause, with its arguments, that finds an object of an account by its id or by a slug. The slug may be a former one.
func RefWhere(kind core.Kind, account, ref string) (string, []any) {
	if id, ok := core.ParseID(kind, ref); ok {
		return " WHERE account_id = ? AND id = ?", []any{account, id}
	}
	return " WHERE account_id = ? AND id = (SELECT object_id FROM slugs WHERE account_id = ? AND kind = ? AND slug = ?)",
		[]any{account, account, kind, ref}
}
