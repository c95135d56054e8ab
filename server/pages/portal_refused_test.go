package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/tenant"
)

// refused is what a page of the portal says in a language of a form that was refused.
func (g *guest) refused(below, language string, form url.Values) string {
	g.t.Helper()
	said := regexp.MustCompile(`(?s)role="alert".*?<ul>\s*<li>(.*?)</li>`).FindStringSubmatch(g.does(below+"?locale="+language, form, http.StatusUnprocessableEntity))
	require.NotNil(g.t, said, below)
	return said[1]
}

// Customers read in their language why something could not be done, and what to do.
func TestPortal_SaysInTheCustomersLanguageWhatWasRefused(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		refuses := func(below, says string, form url.Values) {
			t.Helper()
			assert.Contains(t, g.refused(below, "de", form), says)
			assert.NotRegexp(t, `[A-Za-z]{3}`, regexp.MustCompile(`Club &amp; more|CVC|<[^>]*>`).ReplaceAllString(g.refused(below, "ja", form), ""))
		}
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		path, card := "/subscriptions/"+sub.ID, "/cards/"+g.cards()[0].ID+"/remove"
		gold := g.offers(sub, catalog.PriceVariant{Amount: 2900})
		refuses(card, "Mit dieser Karte wird Club &amp; more bezahlt. Wählen Sie dafür zuerst eine andere Karte, oder kündigen Sie es.", nil)
		refuses(path+"/uncancel", "Sie haben dieses Abo nicht gekündigt. Fragen Sie den Verkäufer.", nil)
		refuses(path+"/plan", "Wählen Sie einen der angebotenen Tarife.", url.Values{"plan": {"nonsense"}})
		refuses(path+"/cancel", "Wählen Sie einen der Gründe.", url.Values{"reason": {"nonsense"}})
		form := typed(g.see(path, http.StatusOK), "4242424242424241")
		refuses(path+"/card", "Die Kartennummer stimmt nicht.", form)
		refuses("/cards", "Die Kartennummer stimmt nicht.", form)
		form.Del("once")
		refuses("/cards", "Das Formular ist unvollständig.", form)

		_, err := g.billing.ChangeSubscription(t.Context(), g.account, sub.ID, store.ChangeSubscription{PriceVariant: gold, Behavior: tenant.ProrationBehaviorNextInvoice})
		require.NoError(t, err)
		g.does(path+"/cancel", nil, http.StatusOK)
		refuses(card, "Mit dieser Karte wird die letzte Rechnung für Club &amp; more bezahlt. Wählen Sie dafür zuerst eine andere Karte.", nil)
		refuses(path+"/pause", "Dieses Abo kann jetzt nicht pausiert werden.", nil)
		_, err = g.CancelSubscription(t.Context(), g.account, sub.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)
		refuses(path+"/uncancel", "Dieses Abo ist beendet.", nil)
		refuses(path+"/resume", "Sie haben dieses Abonnement nicht pausiert.", nil)

		other := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_mastercard")
		_, err = g.DeletePaymentMethod(t.Context(), g.account, g.customer.ID, g.cards()[0].ID)
		require.NoError(t, err)
		_, err = g.DeletePaymentMethod(t.Context(), g.account, g.customer.ID, g.cards()[0].ID)
		require.NoError(t, err)
		dearer := g.offers(other, catalog.PriceVariant{Amount: 2900})
		refuses("/subscriptions/"+other.ID+"/plan", "Es gibt keine Karte, von der der Wechsel abgebucht werden kann.", url.Values{"plan": {dearer}, "shown": {anyPrice(other)}})

		late := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		g.now = g.now.AddDate(0, 1, 1)
		g.renew()
		_, err = g.AdvanceSubscription(t.Context(), g.account, late.ID) // whose charge has no outcome yet
		require.NoError(t, err)
		refuses("/subscriptions/"+late.ID+"/pause", "Für dieses Abo läuft gerade eine Zahlung. Versuchen Sie es gleich noch einmal.", nil)
	})
}
