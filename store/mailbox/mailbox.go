package mailbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// Mail costs the reputation of the server that sends it. What a seller sends is counted by document and by account. What somebody asks for
// without a key is counted apart from it, so that it uses up nothing of the seller's. It is counted by the network address from which they ask,
// of which one household may have 65,536. So it is counted by the network around that too.
const (
	DocumentLetters     = 5      // an hour
	AccountLetters      = 1000   // an hour
	PageDocumentLetters = 3      // a day
	PageAccountLetters  = 100    // an hour
	SenderLetters       = 10     // an hour
	NetworkLetters      = 50     // an hour
	freeLetters         = 1000   // an hour, of a kind: see IsFree
	newsLetters         = 10_000 // an hour, of product news, to readers who agreed
	InsideLetters       = 100    // an hour, from where a proxy that is not named hides all buyers

	// Letters that ask whose an address is: whoever types addresses does not write to the people behind them.
	VerificationPause      = time.Minute
	CheckoutVerifications  = 3   // a day
	RecipientVerifications = 5   // an hour
	AccountVerifications   = 500 // an hour

	// UnaskedLetters is for those that are sent by themselves to an address that somebody typed and nobody has confirmed, for the same reason.
	UnaskedLetters = 10 // an hour

	// MailboxLetters is for all letters to a mailbox whose reader has not confirmed it, of whichever account, but those that follow a payment.
	MailboxLetters = 20 // an hour

	PortalLetters = 5 // an hour, asked for with an address

	// ProductNews is for what a seller writes to all who agreed, each to as many as there are.
	ProductNews = 4 // a day

	// SenderNews and so on are for ticks at checkouts that news are wanted. Each makes a lead, and may have it asked by a letter.
	SenderNews  = 20  // an hour, from a network address
	networkNews = 100 // an hour
	insideNews  = 600 // an hour
)

// CountLetter counts a letter about an order or an invoice that is about to be sent, together with those of all replicas. Beyond
// the limit of the document or of the account it is CodeRateLimit, and the letter is not counted.
func (s *Store) CountLetter(ctx context.Context, account, id string) error {
	return s.Count(ctx, account,
		throttle.Limit{Subject: "letters", Most: AccountLetters, Window: time.Hour},
		throttle.Limit{Subject: "letters:" + id, Most: DocumentLetters, Window: time.Hour})
}

// CountPageLetter counts a letter that somebody asked for on a page, from a network address. Beyond the limits it is
// CodeRateLimit, as with CountLetter.
func (s *Store) CountPageLetter(ctx context.Context, account, id, from string) error {
	return s.Count(ctx, account, slices.Concat(
		[]throttle.Limit{{Subject: "page_letters", Most: PageAccountLetters, Window: time.Hour}},
		lettersFrom(from),
		[]throttle.Limit{{Subject: "page_letters:" + id, Most: PageDocumentLetters, Window: 24 * time.Hour}})...)
}

// key returns the hash by which letters to one mailbox are counted together.
func key(account, email string) string { return core.HashOf(account + "\x00" + core.MailboxKey(email)) }

// toMailbox is the limit of a mailbox over all accounts.
func toMailbox(email string) throttle.Limit {
	return throttle.Limit{Subject: "mailbox:" + key(throttle.EveryAccount, email), Most: MailboxLetters, Window: time.Hour, OfAll: true}
}

// Count counts a letter. It is CodeRateLimit if it is one too many, and is not counted then.
func (s *Store) Count(ctx context.Context, account string, limits ...throttle.Limit) error {
	return s.throttle.Count(ctx, account, func(o *throttle.Over) error {
		return o.Refuse("id", fmt.Sprintf("%d letters were sent within %s, which is the most. Try again in", o.Most, throttle.Spoken(o.Window)))
	}, limits...)
}

// CountUnasked counts a letter to an address that nobody has confirmed. If it is one too many, it returns how long until there may be another.
// Then it is not counted. One that follows a payment is counted in its account alone. Else whoever has many letters sent to an address could keep
// its owner's receipts from them.
func (s *Store) CountUnasked(ctx context.Context, account, to string, isPaid bool) (wait time.Duration, err error) {
	limits := []throttle.Limit{{Subject: "unasked:" + key(account, to), Most: UnaskedLetters, Window: time.Hour}}
	if !isPaid {
		limits = append(limits, toMailbox(to))
	}
	return waitOf(s.Count(ctx, account, limits...))
}

// waitOf returns how long a letter that is one too many has to wait, and any other error as it is.
func waitOf(err error) (time.Duration, error) {
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeRateLimit {
		return refused.After, nil
	}
	return 0, err
}

// freeKinds are the kinds of letters of which anybody can cause any number without a payment, with what they are counted by. One can give access,
// bill, tell of files and of news, and leave checkouts again and again.
var freeKinds = map[tenant.LetterKind]string{
	tenant.LetterAccessGiven: "access", tenant.LetterInvoiceReminder: "reminders", tenant.LetterFileUpdated: "file_letters", tenant.LetterCheckoutAbandoned: "abandoned",
	tenant.LetterProductNews: "news_letters",
}

// mostFree returns how many letters of such a kind an account has sent within an hour.
func mostFree(kind tenant.LetterKind) int64 {
	if kind == tenant.LetterProductNews {
		return newsLetters
	}
	return freeLetters
}

// IsFree reports whether letters of a kind can be caused without a payment: see freeKinds.
func IsFree(kind tenant.LetterKind) bool { return freeKinds[kind] != "" }

// CountFree counts a letter of a kind that IsFree, whatever was paid for what it tells of. It returns how long the letter has to wait if it is
// one too many. Then it is not counted.
func (s *Store) CountFree(ctx context.Context, account string, kind tenant.LetterKind) (wait time.Duration, err error) {
	return waitOf(s.Count(ctx, account, throttle.Limit{Subject: freeKinds[kind], Most: mostFree(kind), Window: time.Hour}))
}

// CountProductNews counts that a seller has news about a product sent. One too many is CodeRateLimit.
func (s *Store) CountProductNews(ctx context.Context, account string) error {
	return s.throttle.Count(ctx, account, func(o *throttle.Over) error {
		return o.Refuse("product", fmt.Sprintf("An account has news sent %d times within 24 hours, which is the most. Send more in one letter, or try again in", o.Most))
	}, throttle.Limit{Subject: "product_news", Most: ProductNews, Window: 24 * time.Hour})
}

// CountAbandoned counts a reminder of a checkout to an address, as CountFree does, and reports whether it may be sent at all. One a day may be,
// however many checkouts somebody leaves with it. It is counted over all accounts too, though the address is confirmed: no seller reminds a
// mailbox by many accounts. One that may not be sent, or has to wait, is not counted.
func (s *Store) CountAbandoned(ctx context.Context, account, to string) (may bool, wait time.Duration, err error) {
	free := freeKinds[tenant.LetterCheckoutAbandoned]
	over := ""
	wait, err = waitOf(s.throttle.Count(ctx, account, func(o *throttle.Over) error {
		over = o.Subject
		return o.Refuse("id", "Too many reminders were sent. Try again in")
	}, throttle.Limit{Subject: "abandoned:" + key(account, to), Most: 1, Window: 24 * time.Hour}, toMailbox(to),
		throttle.Limit{Subject: free, Most: freeLetters, Window: time.Hour}))
	return wait == 0 || over == free, wait, err
}

// CountNews counts that somebody at a network address ticked at a checkout that they want news, and reports whether that is not one too many.
func (s *Store) CountNews(ctx context.Context, account, from string) (bool, error) {
	wait, err := waitOf(s.Count(ctx, account, throttle.From(from, "news_from", time.Hour, throttle.Nearby{Address: SenderNews, Network: networkNews, Inside: insideNews})...))
	return wait == 0, err
}

// CountPortalLetter counts a request for links to the portal, by the address that was typed and by the network address from which
// it came. It does not look whether anybody has that address. One too many is CodeRateLimit.
func (s *Store) CountPortalLetter(ctx context.Context, email, from string) error {
	return s.throttle.Count(ctx, throttle.EveryAccount, func(o *throttle.Over) error {
		return o.Refuse("email", "Links were asked for too often. You can ask for another one in")
	}, append(lettersFrom(from), throttle.Limit{Subject: "portal:" + key(throttle.EveryAccount, email), Most: PortalLetters, Window: time.Hour}, toMailbox(email))...)
}

// toReader begins the subjects of letters that one reader or one checkout was sent: who asks for one more need only look for it.
const toReader = "to:"

// CountVerification counts a letter that asks whether the address of a checkout is the buyer's. One too many is CodeRateLimit on
// customer_email.
func (s *Store) CountVerification(ctx context.Context, account, checkout, email, from string) error {
	return s.throttle.Count(ctx, account, func(o *throttle.Over) error {
		why := "Too many letters were asked for."
		if strings.HasPrefix(o.Subject, toReader) {
			why = "A letter was sent already. Look for it, also among unwanted mail."
		}
		return o.Refuse("customer_email", why+" You can ask for another one in")
	}, append(VerificationsFrom(from, account, email),
		throttle.Limit{Subject: toReader + checkout, Most: CheckoutVerifications, Window: 24 * time.Hour},
		throttle.Limit{Subject: toReader + checkout + ":pause", Most: 1, Window: VerificationPause})...)
}

// VerificationsFrom returns the limits for letters that ask whose an address is, which somebody typed at a network address.
func VerificationsFrom(from, account, email string) []throttle.Limit {
	return slices.Concat(
		[]throttle.Limit{{Subject: "verifications", Most: AccountVerifications, Window: time.Hour}},
		lettersFrom(from),
		[]throttle.Limit{{Subject: toReader + key(account, email), Most: RecipientVerifications, Window: time.Hour}, toMailbox(email)})
}

// lettersFrom returns the limits for letters that are asked for from a network address: its own, and those of the network
// around it.
func lettersFrom(address string) []throttle.Limit {
	return throttle.From(address, "letters_from", time.Hour, throttle.Nearby{Address: SenderLetters, Network: NetworkLetters, Inside: InsideLetters})
}
