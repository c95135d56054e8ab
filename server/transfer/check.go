package transfer

import (
	"context"
	"errors"
	"strings"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// What CheckFiles checks.
const (
	promiseBytes = "a version that is ready has its bytes where files are kept"
	promiseRows  = "what is kept belongs to a version of a file, or is going to be removed"
)

// checkAtOnce is how many rows, or things in the bucket, are looked at together.
const checkAtOnce = 500

// CheckFiles looks for rows whose bytes the bucket does not have, and for what it has that no row names. It calls checked for each of both
// promises with what breaks it. Transfers may be under way meanwhile. It takes a request to the bucket for each version.
func CheckFiles(ctx context.Context, s *grant.Store, b blob.Bucket, checked func(promise string, broken []core.Violation)) error {
	broken, err := withoutBytes(ctx, s, b)
	if err != nil {
		return err
	}
	checked(promiseBytes, broken)
	strays, err := withoutRow(ctx, s, b, nil)
	if err == nil && len(strays) > 0 { // what was completed or removed between two looks is none
		strays, err = withoutRow(ctx, s, b, strays)
	}
	if err != nil {
		return err
	}
	broken = nil
	for e := range strays {
		account, object, _ := strings.Cut(e.Key, "/")
		broken = append(broken, core.Violation{Account: account, Object: object, Promise: promiseRows})
	}
	checked(promiseRows, broken)
	return nil
}

func withoutBytes(ctx context.Context, s *grant.Store, b blob.Bucket) (broken []core.Violation, err error) {
	for after := (*grant.FileVersion)(nil); ; {
		page, err := s.ReadyVersions(ctx, after, checkAtOnce)
		if err != nil || len(page) == 0 {
			return broken, err
		}
		for i := range page {
			after = &page[i]
			object, err := b.Open(ctx, after.Key(), after.Size)
			switch {
			case errors.Is(err, blob.ErrMissing), errors.Is(err, blob.ErrDamaged):
				broken = append(broken, core.Violation{Account: after.AccountID, Object: after.ID, Promise: promiseBytes})
			case err != nil:
				return nil, err
			default:
				_ = object.Close() // nothing was read
			}
		}
	}
}

// withoutRow returns what the bucket has that no row names; only what is also among others, unless they are nil.
func withoutRow(ctx context.Context, s *grant.Store, b blob.Bucket, others map[blob.Entry]bool) (map[blob.Entry]bool, error) {
	strays := map[blob.Entry]bool{}
	var account string
	var waiting []blob.Entry
	look := func() error {
		files := make([]string, len(waiting))
		for i, e := range waiting {
			_, files[i], _ = cutKey(e.Key)
		}
		named, err := s.NamedBytes(ctx, account, files)
		for _, e := range waiting {
			if unfinished, is := named[e.Key]; !is || e.Unfinished && !unfinished {
				strays[e] = true
			}
		}
		waiting = waiting[:0]
		return err
	}
	err := b.Walk(ctx, func(e blob.Entry) error {
		if others != nil && !others[e] {
			return nil
		}
		owner, _, ok := cutKey(e.Key)
		if !ok {
			strays[e] = true
			return nil
		}
		if len(waiting) > 0 && owner != account || len(waiting) == checkAtOnce {
			if err := look(); err != nil {
				return err
			}
		}
		account, waiting = owner, append(waiting, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return strays, look()
}

// cutKey returns the account and the file of a key.
func cutKey(key string) (account, file string, ok bool) {
	account, rest, _ := strings.Cut(key, "/")
	file, _, ok = strings.Cut(rest, "/")
	return account, file, ok
}
