package contract

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/tests/harness"
)

var errRefused = errors.New("554 5.7.1 <ada@example.com> is not wanted")

// settledLetters returns the account's letters of a kind, newest first, once none is to be sent now.
func settledLetters(t *testing.T, c *sdk.Client, kind sdk.LetterKind) []sdk.Letter {
	t.Helper()
	var letters []sdk.Letter
	if !comes(func() (settled bool) {
		letters, settled = lettersOf(t, c, kind)
		return settled
	}) {
		t.Fatalf("letters of kind %s still wait", kind)
	}
	return letters
}

// lettersOf returns the account's letters of a kind, newest first, and whether none is to be sent now.
func lettersOf(t *testing.T, c *sdk.Client, kind sdk.LetterKind) (letters []sdk.Letter, settled bool) {
	t.Helper()
	letters = ok[*sdk.LetterList](t)(c.Letters.List(background, &sdk.ListLettersParams{Kind: &kind})).Data
	return letters, !slices.ContainsFunc(letters, func(l sdk.Letter) bool {
		return l.Status == sdk.LetterStatusQueued && (l.Attempts > 0 && l.LastError == nil || !l.NextAttemptAt.Time().After(time.Now()))
	})
}

// only returns the one letter of a kind, once it has this status.
func only(t *testing.T, c *sdk.Client, kind sdk.LetterKind, status sdk.LetterStatus) sdk.Letter {
	t.Helper()
	letters := becomes(t, c, kind, status)
	if len(letters) != 1 {
		t.Fatalf("the letters of kind %s are %+v, not one", kind, letters)
	}
	return letters[0]
}

// becomes returns the account's letters of a kind, newest first, once none is to be sent now and the newest ones have these statuses. One that is
// tried again looks, while it is, as if it waited.
func becomes(t *testing.T, c *sdk.Client, kind sdk.LetterKind, statuses ...sdk.LetterStatus) (letters []sdk.Letter) {
	t.Helper()
	if !comes(func() (settled bool) {
		letters, settled = lettersOf(t, c, kind)
		var have []sdk.LetterStatus
		for _, l := range letters[:min(len(letters), len(statuses))] {
			have = append(have, l.Status)
		}
		return settled && slices.Equal(have, statuses)
	}) {
		t.Fatalf("the letters of kind %s are %+v, the newest not %s", kind, letters, statuses)
	}
	return letters
}

// arrived returns the letter as it arrived, nil if it did not.
func arrived(s *harness.Server, id string) *mail.Letter {
	for _, l := range s.Mail.Listed() {
		if strings.HasPrefix(l.ID, id) {
			return &l
		}
	}
	return nil
}

func TestLetters_AReceiptFollowsAPurchase(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		l := only(t, c, "receipt", sdk.LetterStatusSent)
		switch {
		case l.About.Object != "order", l.About.ID != order.ID, l.Customer.ID != order.Customer.ID, *l.To != "ada@example.com", l.Attempts != 1, l.Resends != 0:
			t.Errorf("the letter is %+v", l)
		case l.LastError != nil, l.NextAttemptAt != nil, l.SentAt == nil, *l.Subject != "Your receipt from Test: order 1":
			t.Errorf("it says of itself %+v", l)
		}
		got := ok[*sdk.Letter](t)(c.Letters.Get(background, l.ID, sdk.Expand("customer")))
		assert.Equal(t, l.ID, got.ID, "alone")
		assert.Equal(t, "ada@example.com", got.Customer.Object.Email, "alone")
		sent := arrived(s, l.ID)
		assert.Equal(t, l.ID, sent.ID, "what arrived")
		assert.Equal(t, *l.Subject, sent.Subject, "what arrived")
		assert.Equal(t, "ada@example.com", sent.To, "what arrived")
		assert.Equal(t, "Test", sent.From, "what arrived")
		assert.Equal(t, "test@example.com", sent.ReplyTo, "what arrived")
		assert.Contains(t, sent.Text, order.ReceiptURL, "what arrived")
		_, err := s.SDK(t).Letters.Get(background, l.ID)
		refused(t, err, http.StatusNotFound, "resource_missing", "")
		_, err = c.Letters.List(background, &sdk.ListLettersParams{Customer: new(randomID("cus"))})
		refused(t, err, http.StatusNotFound, "resource_missing", "customer")
		for want, in := range map[int]*sdk.ListLettersParams{
			1: {Customer: &order.Customer.ID, Status: new(sdk.LetterStatusSent), Kind: new(sdk.LetterKind("receipt"))}, 0: {Status: new(sdk.LetterStatusFailed)},
		} {
			if list := ok[*sdk.LetterList](t)(c.Letters.List(background, in)); len(list.Data) != want {
				t.Errorf("%+v finds %+v", in, list.Data)
			}
		}
	})
}

func TestLetters_AReceiptHasWhatWasBought(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		raw := s.Account(t)
		c := raw.SDK()
		made := ok[*sdk.File](t)(c.Files.Create(background, &sdk.FileCreate{Name: "Course.zip", Size: 5}))
		sendBytes(t, raw, made.Upload.URL, "hello")
		ok[*sdk.File](t)(c.Files.Complete(background, made.ID))
		price := onSale(t, c, 1900)
		ok[*sdk.Product](t)(c.Products.Update(background, price.Product.ID, &sdk.ProductUpdate{Deliverables: []sdk.Deliverable{
			{Type: "file", Ref: &made.ID}, {Type: "link", Ref: new("https://club.example.com/in"), Name: new("The club")}, {Type: "license_key"},
		}}))
		purchase(t, c, "ada@example.com", price)
		text := arrived(s, only(t, c, "receipt", sdk.LetterStatusSent).ID).Text
		key := ok[*sdk.LicenseKeyList](t)(c.LicenseKeys.List(background, nil)).Data[0]
		_, link, _ := strings.Cut(text, "Download Course.zip\nhttp://shop.test")
		link, _, _ = strings.Cut(link, "\n")
		assert.Contains(t, text, "The club\nhttps://club.example.com/in\n", "the letter")
		assert.Contains(t, text, "Licence key for ", "the letter")
		assert.Contains(t, text, key.DisplayKey[len(key.DisplayKey)-4:], "the letter")
		assert.True(t, strings.HasPrefix(link, "/files/"), "the letter")
	})
}

func TestLetters_CanBeSwitchedOff(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		before := ok[*sdk.Account](t)(c.Account.Get(background)).Letters
		if before != (sdk.LetterSettings{Receipt: true, PaymentFailed: true, TrialEnding: true, SubscriptionCanceled: true, SubscriptionEnded: true, AccessGiven: true, Refund: true,
			SubscriptionKept: true, PlanChanged: true, RenewalUpcoming: true, CardExpiring: true, InvoiceReminder: true, FileUpdated: true, WebhookFailing: true,
			SalesDaily: true, PaymentsFailedDaily: true, ProviderKeyRefused: true, DomainFailing: true, WeekFigures: true}) {
			t.Errorf("at first the letters are %+v", before)
		}
		changed := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"receipt": false}})).Letters
		assert.False(t, changed.Receipt, "then they")
		assert.True(t, changed.PaymentFailed, "then they")
		_, err := c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"birthday": false}})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "letters.birthday")
		_, err = c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"birthday": true}})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "letters.birthday")
		purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		l := only(t, c, "receipt", sdk.LetterStatusSkipped)
		require.Nil(t, arrived(s, l.ID), "the letter")
		assert.Contains(t, *l.LastError, "switched", "the letter")
		assert.Nil(t, l.To, "the letter")
		assert.Nil(t, l.SentAt, "the letter")
		again := ok[*sdk.Letter](t)(c.Letters.Resend(background, l.ID))
		assert.Equal(t, sdk.LetterStatusQueued, again.Status, "asked")
		assert.EqualValues(t, 1, again.Resends, "asked")
		require.NotNil(t, again.NextAttemptAt, "asked")
		assert.Nil(t, again.LastError, "asked")
		only(t, c, "receipt", sdk.LetterStatusSent)
		if sent := arrived(s, l.ID); sent.ID != l.ID+"-1" {
			t.Errorf("what arrived is %+v", sent)
		}
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"receipt": true}}))
		purchase(t, c, "bob@example.com", onSale(t, c, 1900))
		letters := settledLetters(t, c, "receipt")
		require.Len(t, letters, 2, "switched on again, the letters")
		assert.Equal(t, sdk.LetterStatusSent, letters[0].Status, "switched on again, the letters")
	})
}

func TestResendLetter_IsLimited(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		s.Mail.Refuse(errRefused)
		purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		l := only(t, c, "receipt", sdk.LetterStatusQueued)
		assert.EqualValues(t, 1, l.Attempts, "the letter")
		assert.Equal(t, "554 5.7.1 <(the address)> is not wanted", *l.LastError, "the letter")
		assert.False(t, l.NextAttemptAt.Time().Before(time.Now().Add(50*time.Second)), "the letter")
		_, err := c.Letters.Resend(background, l.ID)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "status")
		s.Must(t, "UPDATE letters SET status = 'failed', next_attempt_at = NULL")
		for range 5 {
			ok[*sdk.Letter](t)(c.Letters.Resend(background, l.ID))
			s.Must(t, "UPDATE letters SET status = 'failed', next_attempt_at = NULL")
		}
		_, err = c.Letters.Resend(background, l.ID)
		refused(t, err, http.StatusTooManyRequests, "rate_limit_exceeded", "id")
		_, err = c.Letters.Resend(background, randomID("letter"))
		refused(t, err, http.StatusNotFound, "resource_missing", "")
	})
}
