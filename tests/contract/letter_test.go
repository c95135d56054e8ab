package contract

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
	for _, l := range s.Mail.Automatic() {
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
		if got.ID != l.ID || got.Customer.Object.Email != "ada@example.com" {
			t.Errorf("alone it is %+v", got)
		}
		sent := arrived(s, l.ID)
		if sent.ID != l.ID || sent.Subject != *l.Subject || sent.To != "ada@example.com" || sent.From != "Test" || sent.ReplyTo != "test@example.com" || !strings.Contains(sent.Text, order.ReceiptURL) {
			t.Errorf("what arrived is %+v", sent)
		}
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
		if !strings.Contains(text, "The club\nhttps://club.example.com/in\n") || !strings.Contains(text, "Licence key for ") || !strings.Contains(text, key.DisplayKey[len(key.DisplayKey)-4:]) || !strings.HasPrefix(link, "/files/") {
			t.Errorf("the letter says %q", text)
		}
	})
}

func TestLetters_CanBeSwitchedOff(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		before := ok[*sdk.Account](t)(c.Account.Get(background)).Letters
		if before != (sdk.LetterSettings{Receipt: true, PaymentFailed: true, TrialEnding: true, SubscriptionCanceled: true, SubscriptionEnded: true, AccessGiven: true, Refund: true,
			SubscriptionKept: true, PlanChanged: true, RenewalUpcoming: true, CardExpiring: true, InvoiceReminder: true, FileUpdated: true, WebhookFailing: true}) {
			t.Errorf("at first the letters are %+v", before)
		}
		changed := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"receipt": false}})).Letters
		if changed.Receipt || !changed.PaymentFailed {
			t.Errorf("then they are %+v", changed)
		}
		_, err := c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"birthday": false}})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "letters.birthday")
		_, err = c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"birthday": true}})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "letters.birthday")
		purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		l := only(t, c, "receipt", sdk.LetterStatusSkipped)
		if arrived(s, l.ID) != nil || !strings.Contains(*l.LastError, "switched") || l.To != nil || l.SentAt != nil {
			t.Errorf("the letter is %+v", l)
		}
		again := ok[*sdk.Letter](t)(c.Letters.Resend(background, l.ID))
		if again.Status != sdk.LetterStatusQueued || again.Resends != 1 || again.NextAttemptAt == nil || again.LastError != nil {
			t.Errorf("asked for, it is %+v", again)
		}
		only(t, c, "receipt", sdk.LetterStatusSent)
		if sent := arrived(s, l.ID); sent.ID != l.ID+"-1" {
			t.Errorf("what arrived is %+v", sent)
		}
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"receipt": true}}))
		purchase(t, c, "bob@example.com", onSale(t, c, 1900))
		if letters := settledLetters(t, c, "receipt"); len(letters) != 2 || letters[0].Status != sdk.LetterStatusSent {
			t.Errorf("switched on again, the letters are %+v", letters)
		}
	})
}

func TestResendLetter_IsLimited(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		s.Mail.Refuse(errRefused)
		purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		l := only(t, c, "receipt", sdk.LetterStatusQueued)
		if l.Attempts != 1 || *l.LastError != "554 5.7.1 <(the address)> is not wanted" || l.NextAttemptAt.Time().Before(time.Now().Add(50*time.Second)) {
			t.Errorf("the letter is %+v", l)
		}
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
