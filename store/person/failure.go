package person

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/throttle"
)

// How often signing in may fail within a window, for an address of e-mail and for one of the network. Whether somebody has the former makes no
// difference: an answer would say so.
const (
	failureWindow   = 15 * time.Minute
	failuresEmail   = 10
	failuresAddress = 30
	recoveriesEmail = 5 // letters, not failures

	contextOfBrowser = "known browser\x00"
)

// Attempt says who tries to sign in: with which e-mail address, from which of the network, and in which browser, as KnownBrowser named it.
type Attempt struct{ Email, Address, Browser string }

// TryPassword counts an attempt to sign in before it is made, so that attempts at once are counted too. One too many is CodeRateLimit, which says
// when to try again. All replicas count together. A browser in which that person has signed in before is counted apart. So no stranger keeps
// somebody out who comes from where they always do. Whoever then is let in is forgotten by ForgetFailures.
func (s *Store) TryPassword(ctx context.Context, a Attempt) error {
	return s.try(ctx, fromAddress(a.Address), attempts(s.subjectOf(a), failuresEmail))
}

// subjectOf returns what an attempt is counted for beside its network address. It is the browser, if that is known to be the person's, else their
// e-mail address.
func (s *Store) subjectOf(a Attempt) string {
	if sealed := s.knownBrowser(a); sealed != nil {
		return "sign_in:browser:" + hashOf(string(sealed))
	}
	return "sign_in:email:" + hashOf(keyOf(a.Email))
}

// KnowsBrowser reports whether the person with that e-mail address has signed in in the browser before.
func (s *Store) KnowsBrowser(a Attempt) bool { return s.knownBrowser(a) != nil }

// knownBrowser returns what the browser keeps, nil if it is not known to be that person's.
func (s *Store) knownBrowser(a Attempt) []byte {
	sealed, err := base64.RawURLEncoding.DecodeString(a.Browser)
	if err != nil || len(sealed) == 0 {
		return nil
	}
	if _, err = s.db.Options.Sealer.Open(sealed, contextOfBrowser+keyOf(a.Email)); err != nil {
		return nil
	}
	return sealed
}

// KnownBrowser returns what a browser keeps in which somebody has signed in, for the attempts to come: it opens nothing.
func (s *Store) KnownBrowser(email string) string {
	return base64.RawURLEncoding.EncodeToString(s.db.Options.Sealer.Seal([]byte("known"), contextOfBrowser+keyOf(email)))
}

// TrySignUp counts that somebody makes an account, by the address that they come from alone: nobody closes the door to all others.
func (s *Store) TrySignUp(ctx context.Context, address string) error {
	return s.try(ctx, fromAddress(address))
}

// TryRecovery counts that somebody asks for a letter to choose another password, by the address that they typed and the one that they come from. It does
// not look whether anybody has the former.
func (s *Store) TryRecovery(ctx context.Context, email, address string) error {
	return s.try(ctx, fromAddress(address), attempts("recovery:"+hashOf(keyOf(email)), recoveriesEmail))
}

// attempts is the limit of a subject.
func attempts(subject string, most int64) throttle.Limit {
	return throttle.Limit{Subject: subject, Most: most, Window: failureWindow}
}

// fromAddress is the limit of a network address, of IPv6 that of its /64.
func fromAddress(address string) throttle.Limit {
	host, _ := throttle.Around(address)
	return attempts("sign_in:address:"+hashOf(host), failuresAddress)
}

func (s *Store) try(ctx context.Context, limits ...throttle.Limit) error {
	refuse := func(o *throttle.Over) error { return o.Refuse("", "There were too many attempts. Try again in") }
	return s.throttle.Count(ctx, throttle.EveryAccount, refuse, limits...)
}

// ForgetFailures has the attempts for an address of e-mail forgotten, or those of the known browser. It takes the last one off those of the
// network's address.
func (s *Store) ForgetFailures(ctx context.Context, a Attempt) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		if err := s.throttle.TakeBack(ctx, u, throttle.EveryAccount, fromAddress(a.Address).Subject); err != nil {
			return nil, err
		}
		return nil, s.throttle.Forget(ctx, u, throttle.EveryAccount, s.subjectOf(a))
	})
	return err
}
