package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// left is a form in which somebody agrees to letters, and that ad networks are told.
func left(email string) lead.Captured {
	return lead.Captured{NewLead: lead.NewLead{Email: email, Source: lead.SourceForm}, From: "203.0.113.7", Agrees: true, AdsConsent: true, AdsVisit: visit()}
}

// captures takes a form, and returns the lead with its address, nil if there is none.
func captures(t *testing.T, s *Store, account string, in lead.Captured) *lead.Lead {
	t.Helper()
	in.FormToken = formOf(t, s, account)
	_, err := s.Lead.Capture(t.Context(), in)
	require.NoError(t, err)
	leads, _, err := s.Lead.List(t.Context(), account, lead.List{Page: core.Page{Limit: 1}, Email: in.Email})
	require.NoError(t, err)
	if len(leads) == 0 {
		return nil
	}
	return &leads[0]
}

// formOf returns the token of a form that was opened a minute ago.
func formOf(t *testing.T, s *Store, account string) string {
	t.Helper()
	now := s.db.Options.Now
	s.db.Options.Now = func() time.Time { return now().Add(-time.Minute) }
	defer func() { s.db.Options.Now = now }()
	form, err := s.Lead.NewForm(t.Context(), account)
	require.NoError(t, err)
	return form.Token
}

func (s *shop) confirmsLeads(t *testing.T) {
	t.Helper()
	_, err := s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) { a.LeadConfirmation = tenant.LeadConfirmationDoubleOptIn })
	require.NoError(t, err)
}

// claims is how many conversions whoever tells a destination would send now.
func (s *shop) claims(t *testing.T, d *advert.ConversionDestination) int {
	t.Helper()
	claim, err := s.Advert.ClaimConversions(t.Context(), s.account, d.ID, advert.ConversionLimits{Most: 10, MaxAge: 365 * 24 * time.Hour, Dedupe: 365 * 24 * time.Hour})
	require.NoError(t, err)
	return len(claim.Conversions)
}

// confirmsBy opens and confirms the link in a letter.
func (s *shop) confirmsBy(t *testing.T, l *lead.Lead) {
	t.Helper()
	link, err := s.Lead.ConfirmationURL(l)
	require.NoError(t, err)
	confirmed, _, err := s.Lead.Confirm(t.Context(), link[len(s.db.Options.PublicURL+"/subscribe/"):])
	require.NoError(t, err)
	require.True(t, confirmed.Consent.V.Marketing)
}

func TestCaptureLead_TellsAdNetworksOfANewLeadWhoAgreed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		meta, pinterest := s.destination(t, advert.PlatformFacebook, nil), s.destination(t, advert.PlatformPinterest, nil)
		ofGuide, ofOther := s.destination(t, advert.PlatformFacebook, &[]string{guide.ProductID}), s.destination(t, advert.PlatformFacebook, &[]string{"prod_1"})
		in := left("Grace@Example.com")
		in.Product, in.Name, in.Phone = guide.ProductID, ref(" Grace Brewster Hopper"), ref("+1 616 954 7888")
		l := captures(t, s.Store, s.account, in)
		require.True(t, l.AdsConsent)
		told := s.told(t, meta)
		require.Len(t, told, 1)
		assert.Equal(t, advert.ConversionEvent{
			EventID: l.ID, Kind: advert.ConversionLead, At: l.CreatedAt, User: advert.ConversionUser{
				Email: advert.HashOf("grace@example.com"), Phone: advert.HashOf("16169547888"), FirstName: advert.HashOf("grace"), LastName: advert.HashOf("brewster hopper"),
				ExternalID: advert.HashOf(l.CustomerID), ClientIP: "203.0.113.7", UserAgent: "Mozilla/5.0", PageURL: "https://ada.example/guide", ClickID: "IwAR0", ClickAt: l.CreatedAt / 1000 * 1000,
			},
		}, told[0])
		require.Len(t, s.told(t, pinterest), 1)
		assert.Equal(t, "dj0", s.told(t, pinterest)[0].User.ClickID, "a network is told its own click alone")
		assert.Len(t, s.told(t, ofGuide), 1)
		assert.Empty(t, s.told(t, ofOther))
		assert.Equal(t, 1, s.claims(t, meta), "at once")

		captures(t, s.Store, s.account, in)
		assert.Len(t, s.told(t, meta), 1, "who is known is no new lead")
	})
}

func TestCaptureLead_TellsNobodyWithoutConsent(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.destination(t, advert.PlatformFacebook, nil)
		silent := left("silent@example.com")
		silent.AdsConsent, silent.AdsVisit = false, nil
		require.False(t, captures(t, s.Store, s.account, silent).AdsConsent)
		require.False(t, captures(t, s.Store, s.account, left("silent@example.com")).AdsConsent, "what made it stands")
		trapped := left("bot@example.com")
		trapped.Website = "https://spam.example"
		require.Nil(t, captures(t, s.Store, s.account, trapped))
		_, err := s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: "api@example.com", Source: lead.SourceAPI}, false)
		require.NoError(t, err)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM ad_conversions`))

		for param, change := range map[string]func(*lead.Captured){
			"ads_visit":           func(in *lead.Captured) { in.AdsConsent = false },
			"ads_visit.client_ip": func(in *lead.Captured) { in.AdsVisit.ClientIP = "fe80::1%eth0" },
		} {
			in := left("ada@example.com")
			change(&in)
			in.FormToken = formOf(t, s.Store, s.account)
			_, err := s.Lead.Capture(t.Context(), in)
			dbtest.RequireInvalid(t, err, param)
		}
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM leads WHERE email = 'ada@example.com'`))
	})
}

// Where addresses are confirmed, anybody may have typed one before it is.
func TestConfirmLead_LetsAdNetworksBeTold(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.confirmsLeads(t)
		d := s.destination(t, advert.PlatformFacebook, nil)
		noLetter := left("none@example.com")
		noLetter.Agrees = false
		captures(t, s.Store, s.account, noLetter)
		require.Empty(t, s.told(t, d), "nobody can confirm without a letter")

		sent := s.Now()
		s.at(sent.Time())
		l, other := captures(t, s.Store, s.account, left("grace@example.com")), captures(t, s.Store, s.account, left("ada@example.com"))
		require.Len(t, s.told(t, d), 2)
		s.at(sent.Time().Add(6 * 24 * time.Hour))
		require.Zero(t, s.claims(t, d))
		list, _, err := s.Advert.ListConversions(t.Context(), s.account, advert.ListConversions{Page: core.Page{Limit: 1}, EventID: l.ID})
		require.NoError(t, err)
		require.True(t, list[0].IsHeld())
		require.Contains(t, list[0].Reason, "not confirmed")

		s.confirmsBy(t, l)
		require.Equal(t, 1, s.claims(t, d), "the one who confirmed")
		s.confirmsBy(t, l)
		require.Zero(t, s.claims(t, d), "once")

		s.at(sent.Time().Add(8 * 24 * time.Hour))
		require.Equal(t, 1, s.claims(t, d), "what nobody has answered to is told again")
		s.confirmsBy(t, other) // by a letter that came late
		ended, err := s.Advert.ExpireConversions(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, int64(2), ended)
		s.confirmsBy(t, other)
		require.Zero(t, s.claims(t, d))
	})
}

// A seller may say that somebody has confirmed. Networks are told by the button of the letter alone, and never of whoever left.
func TestConfirmLead_TellsOfWhomTheSellerHasConfirmed(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.confirmsLeads(t)
		d := s.destination(t, advert.PlatformFacebook, nil)
		form := func(email string) *lead.Lead { return captures(t, s.Store, s.account, left(email)) }
		l, gone, imported := form("grace@example.com"), form("ada@example.com"), form("alan@example.com")
		tells := func(l *lead.Lead) bool {
			tells, err := s.Lead.TellsOnceConfirmed(t.Context(), l)
			require.NoError(t, err)
			return tells
		}
		_, err := s.Lead.Update(t.Context(), s.account, l.ID, func(l *lead.Lead) { l.Consent.V.Marketing, l.Consent.V.ConfirmedAt = true, ref(s.Now()) })
		require.NoError(t, err)
		require.True(t, tells(l))
		require.Zero(t, s.claims(t, d))
		s.confirmsBy(t, l)
		require.False(t, tells(l))
		require.Equal(t, 1, s.claims(t, d))

		_, err = s.Lead.Update(t.Context(), s.account, gone.ID, func(l *lead.Lead) { l.Status = lead.StatusUnsubscribed })
		require.NoError(t, err)
		require.Len(t, s.told(t, d), 2)
		saved, err := s.Lead.Import(t.Context(), s.account, []lead.NewLead{{Email: "alan@example.com", Source: lead.SourceImport, Status: lead.StatusUnsubscribed}}, true)
		require.NoError(t, err)
		require.Equal(t, imported.ID, saved[0].Lead.ID)
		require.Len(t, s.told(t, d), 1)
	})
}

func TestDeleteLead_TellsAdNetworksNothingMore(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.destination(t, advert.PlatformFacebook, nil)
		gone := captures(t, s.Store, s.account, left("grace@example.com"))
		s.confirmsLeads(t)
		waits := captures(t, s.Store, s.account, left("ada@example.com"))
		erased := captures(t, s.Store, s.account, left("alan@example.com"))
		for n, l := range []*lead.Lead{gone, waits} {
			_, err := s.Lead.Delete(t.Context(), s.account, l.ID)
			require.NoError(t, err)
			require.Len(t, s.told(t, d), 2-n)
		}
		_, err := s.UpdateCustomer(t.Context(), s.account, erased.CustomerID, func(c *customer.Customer) { c.SetEmail("moved@example.com") })
		require.NoError(t, err)
		owner := s.customer(t, "alan@example.com", nil)
		_, err = s.DeleteCustomer(t.Context(), s.account, owner.ID, false)
		require.NoError(t, err)
		require.Empty(t, s.told(t, d), "the one who has the address now was deleted")

		last := captures(t, s.Store, s.account, left("last@example.com"))
		require.Len(t, s.told(t, d), 1)
		_, err = s.DeleteCustomer(t.Context(), s.account, last.CustomerID, false)
		require.NoError(t, err)
		require.Empty(t, s.told(t, d))
	})
}
