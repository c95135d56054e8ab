package contract

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// wantsLeads makes a destination that is told of leads.
func (n onNetwork) wantsLeads(t *testing.T) {
	t.Helper()
	ok[*sdk.ConversionDestination](t)(n.AdConversions.CreateDestination(background, &sdk.ConversionDestinationCreate{
		AccountID: n.channel, AdAccountID: n.account, PixelID: n.pixel(t).ID, Events: []sdk.ConversionEventKind{sdk.ConversionEventKindLead},
	}))
}

func (n onNetwork) conversions(t *testing.T) []sdk.Conversion {
	t.Helper()
	return ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &sdk.ListConversionsParams{})).Data
}

// agreedLead is what somebody left in a form who came by an ad and agreed to everything.
func agreedLead(form, email string) *sdk.PublicLeadCreate {
	return &sdk.PublicLeadCreate{FormToken: form, Email: email, Name: new("Ada"), Consent: new(true), AdsConsent: new(true), AdsVisit: clicked()}
}

// A lead is told of by itself if it is new and its visitor agreed, and nothing else is.
func TestPublicLead_IsToldOfWithConsentAlone(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		n.wantsLeads(t)
		form := openForm(t, n.Client)
		send(t, n.Client, &sdk.PublicLeadCreate{FormToken: form, Email: "silent@example.com", AdsConsent: new(false)})
		ok[*sdk.Lead](t)(n.Leads.Create(background, &sdk.LeadCreate{Email: "api@example.com"}))
		for _, known := range []string{"silent@example.com", "api@example.com"} {
			send(t, n.Client, agreedLead(form, known))
		}
		trapped := agreedLead(form, "bot@example.com")
		trapped.Website = new("https://spam.example")
		send(t, n.Client, trapped)
		if told := n.conversions(t); len(told) > 0 {
			t.Fatalf("before anybody new agreed, %+v is told", told)
		}
		send(t, n.Client, agreedLead(form, "Ada@private.example"))
		send(t, n.Client, agreedLead(form, "Ada@private.example"))
		n.work(t)
		leads, told := leadsOf(t, n.Client), n.conversions(t)
		require.Len(t, leads, 3, "the leads")
		require.True(t, leads[0].AdsConsent, "the leads")
		require.False(t, leads[1].AdsConsent, "the leads")
		require.False(t, leads[2].AdsConsent, "the leads")
		require.Len(t, told, 1)
		require.Equal(t, leads[0].ID, told[0].EventID)
		require.EqualValues(t, "lead", told[0].Event)
		require.EqualValues(t, "lead", told[0].Source)
		require.Nil(t, told[0].Value)
		require.Nil(t, told[0].Currency)
		require.EqualValues(t, "sent", told[0].Status)
		heard := n.server.Strings(t, `SELECT detail FROM sandbox_conversions WHERE channel_id = '`+n.channel+`' AND counted = 1`)
		require.Len(t, heard, 1, "the network heard")
		assert.Contains(t, heard[0], hashed("ada@private.example"), "the network heard")
		assert.Contains(t, heard[0], "IwAR0_x", "the network heard")
		assert.NotContains(t, heard[0], "private.example", "the network heard")
	})
}

func TestPublicLead_RefusesAVisitThatIsNoneOrUnwanted(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		form := openForm(t, c)
		for param, change := range map[string]func(*sdk.PublicLeadCreate){
			"ads_visit":                func(b *sdk.PublicLeadCreate) { b.AdsConsent = nil },
			"ads_visit.client_ip":      func(b *sdk.PublicLeadCreate) { b.AdsVisit.ClientIP = new("203.0.113.777") },
			"ads_visit.page_url":       func(b *sdk.PublicLeadCreate) { b.AdsVisit.PageURL = new("https://ada:secret@ada.example/") },
			"ads_visit.click_ids.epik": func(b *sdk.PublicLeadCreate) { b.AdsVisit.ClickIds.Epik = new("two words") },
		} {
			body := agreedLead(form, "ada@example.com")
			change(body)
			_, err := c.PublicLeads.Create(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		if leads := leadsOf(t, c); len(leads) != 0 {
			t.Errorf("the leads are %+v", leads)
		}
		if a := ok[*sdk.Account](t)(c.Account.Get(background)); a.LeadAdsConsent {
			t.Error("the forms ask though nobody switched that on")
		}
		if a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{LeadAdsConsent: new(true)})); !a.LeadAdsConsent {
			t.Error("the forms do not ask")
		}
	})
}

var confirmationLink = regexp.MustCompile(`http://\S+/subscribe/\S+`)

// Where addresses are confirmed, a lead is told of once its own is.
func TestPublicLead_IsToldOfOnceItIsConfirmed(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		n.wantsLeads(t)
		double := sdk.LeadConfirmation("double_opt_in")
		ok[*sdk.Account](t)(n.Account.Update(background, &sdk.AccountUpdate{LeadConfirmation: &double}))
		form := openForm(t, n.Client)
		for _, email := range []string{"never@example.com", "ada@example.com"} {
			send(t, n.Client, agreedLead(form, email))
		}
		noLetter := agreedLead(form, "none@example.com")
		noLetter.Consent = nil
		send(t, n.Client, noLetter)
		if err := n.server.Ads.TellConversions(background); err != nil {
			t.Fatal(err)
		}
		told := n.conversions(t)
		require.Len(t, told, 2, "before anybody has confirmed")
		require.False(t, slices.ContainsFunc(told, func(c sdk.Conversion) bool {
			return c.Status != "pending" || c.Attempts != 0 || c.NextAttemptAt != nil || c.Reason == nil || !strings.Contains(*c.Reason, "not confirmed")
		}), "before anybody has confirmed")
		link := ""
		comes(func() bool {
			for _, letter := range n.server.Mail.Letters() {
				if letter.To == "ada@example.com" {
					link = confirmationLink.FindString(letter.Text)
				}
			}
			return link != ""
		})
		resp, err := http.PostForm(strings.Replace(link, "http://shop.test", n.server.URL, 1), url.Values{})
		require.NoError(t, err, link)
		require.NoError(t, resp.Body.Close(), link)
		require.Equal(t, http.StatusOK, resp.StatusCode, link)
		for _, l := range leadsOf(t, n.Client) {
			if l.Email == "never@example.com" {
				ok[*sdk.Deleted](t)(n.Leads.Delete(background, l.ID))
			}
		}
		n.work(t)
		told = n.conversions(t)
		require.Len(t, told, 1)
		assert.EqualValues(t, "sent", told[0].Status)
		assert.EqualValues(t, 1, told[0].Attempts)
		assert.Nil(t, told[0].Reason)
	})
}
