package contract

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// rules are published legal pages that buyers must accept.
func rules(t *testing.T, c *sdk.Client, kind sdk.LegalPageKind, locale string) *sdk.LegalPage {
	t.Helper()
	return legalPage(t, c, &sdk.LegalPageCreate{
		Kind: kind, Title: "Rules", Body: new("Be kind."), Locale: &locale, Status: new(sdk.LegalPageStatusPublished), RequiresAcceptance: new(true),
	})
}

// accepting is a confirmation with accepted terms.
func accepting(method string) *sdk.CheckoutConfirm {
	in := by(method)
	in.TermsAccepted = new(true)
	return in
}

// accepted fails the test if an order does not name exactly these pages, in the versions that they have.
func accepted(t *testing.T, c *sdk.Client, order string, pages ...*sdk.LegalPage) {
	t.Helper()
	got := ok[*sdk.Order](t)(c.Orders.Get(background, order)).LegalAcceptances
	if len(got) != len(pages) {
		t.Fatalf("accepted are %+v, not %d pages", got, len(pages))
	}
	for i, a := range got {
		assert.Equal(t, pages[i].ID, a.LegalPage)
		assert.Equal(t, pages[i].Kind, a.Kind)
		assert.Equal(t, pages[i].Version, a.Version)
		assert.NotEmpty(t, a.AcceptedAt)
	}
}

func TestConfirmCheckout_NotesWhichLegalPagesWereAccepted(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		free := checkout(t, c, "ada@example.com", guide)
		terms := rules(t, c, sdk.LegalPageKindTerms, "en")
		legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindPrivacy, Title: "Privacy", Body: new("x"), Status: new(sdk.LegalPageStatusPublished)})
		legalPage(t, c, &sdk.LegalPageCreate{Kind: sdk.LegalPageKindImprint, Title: "Draft", RequiresAcceptance: new(true)})

		public := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Get(background, free.ClientSecret))
		if !public.TermsRequired {
			t.Error("the buyer is not told of the terms")
		}
		_, err := c.Checkouts.Confirm(background, free.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "terms_accepted")
		_, err = c.PublicCheckouts.Confirm(background, free.ClientSecret, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "terms_accepted")
		ok[*sdk.Deleted](t)(c.LegalPages.Delete(background, rules(t, c, sdk.LegalPageKindCustom, "en").ID)) // nobody has accepted it

		// What was accepted before a decline counts, until the page changes.
		_, err = c.Checkouts.Confirm(background, free.ID, accepting("pm_card_chargeDeclined"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		terms = ok[*sdk.LegalPage](t)(c.LegalPages.Update(background, terms.ID, &sdk.LegalPageUpdate{Body: new("Be kinder.")}))
		_, err = c.Checkouts.Confirm(background, free.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "terms_accepted")
		_, err = c.Checkouts.Confirm(background, free.ID, accepting("pm_card_chargeDeclined"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, free.ID, by("pm_card_visa")))
		accepted(t, c, paid.Order.ID, terms)

		// The order keeps it, whatever becomes of the page, which stays.
		before := *terms
		ok[*sdk.LegalPage](t)(c.LegalPages.Update(background, terms.ID, &sdk.LegalPageUpdate{Body: new("Be kindest."), RequiresAcceptance: new(false)}))
		accepted(t, c, paid.Order.ID, &before)
		ok[*sdk.LegalPage](t)(c.LegalPages.Archive(background, terms.ID))
		ok[*sdk.Deleted](t)(c.LegalPages.Delete(background, ok[*sdk.LegalPage](t)(c.LegalPages.Duplicate(background, terms.ID)).ID)) // nobody has accepted the copy
		_, err = c.LegalPages.Delete(background, terms.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		if text := ok[*sdk.LegalPageVersion](t)(c.LegalPages.GetVersion(background, terms.ID, strconv.FormatInt(before.Version, 10))); *text.Body != "Be kinder." {
			t.Errorf("the accepted text is %+v", text)
		}
		accepted(t, c, purchase(t, c, "ada@example.com", guide).ID)
	})
}

func TestConfirmCheckout_AcceptsThePagesOfItsLanguage(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		terms, privacy := rules(t, c, sdk.LegalPageKindTerms, "en"), rules(t, c, sdk.LegalPageKindPrivacy, "en")
		german := rules(t, c, sdk.LegalPageKindTerms, "de")
		for locale, pages := range map[string][]*sdk.LegalPage{"": {terms, privacy}, "en": {terms, privacy}, "fr": {terms, privacy}, "de": {privacy, german}} {
			in := &sdk.CheckoutCreate{CustomerEmail: new("ada@example.com"), LineItems: lines(guide)}
			if locale != "" {
				in.Locale = &locale
			}
			made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, in))
			paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, accepting("pm_card_visa")))
			accepted(t, c, paid.Order.ID, pages...)
		}
	})
}

// Nobody is there who could accept anything when a seller's program makes a subscription.
func TestCreateSubscription_AcceptsNoLegalPage(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		terms := rules(t, c, sdk.LegalPageKindTerms, "en")
		made := subscription(t, c, monthly(t, c, 900))
		orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Subscription: &made.ID}))
		accepted(t, c, orders.Data[0].ID)
		ok[*sdk.Deleted](t)(c.LegalPages.Delete(background, terms.ID))
	})
}

func TestLegalPages_OfALanguageAskForAcceptanceInBounds(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for range 20 {
			rules(t, c, sdk.LegalPageKindCustom, "en")
		}
		_, err := c.LegalPages.Create(background, &sdk.LegalPageCreate{
			Kind: sdk.LegalPageKindCustom, Title: "One more", Body: new("x"), Status: new(sdk.LegalPageStatusPublished), RequiresAcceptance: new(true),
		})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "requires_acceptance")
		rules(t, c, sdk.LegalPageKindCustom, "de")
	})
}
