package contract

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

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
		if len(leads) != 3 || !leads[0].AdsConsent || leads[1].AdsConsent || leads[2].AdsConsent {
			t.Fatalf("the leads are %+v", leads)
		}
		if len(told) != 1 || told[0].EventID != leads[0].ID || told[0].Event != "lead" || told[0].Source != "lead" || told[0].Value != nil || told[0].Currency != nil || told[0].Status != "sent" {
			t.Fatalf("told is %+v", told)
		}
		heard := n.server.Strings(t, `SELECT detail FROM sandbox_conversions WHERE channel_id = '`+n.channel+`' AND counted = 1`)
		if len(heard) != 1 || !strings.Contains(heard[0], hashed("ada@private.example")) || !strings.Contains(heard[0], "IwAR0_x") || strings.Contains(heard[0], "private.example") {
			t.Errorf("the network heard %v", heard)
		}
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
		if len(told) != 2 || slices.ContainsFunc(told, func(c sdk.Conversion) bool {
			return c.Status != "pending" || c.Attempts != 0 || c.NextAttemptAt != nil || c.Reason == nil || !strings.Contains(*c.Reason, "not confirmed")
		}) {
			t.Fatalf("before anybody has confirmed, told is %+v", told)
		}
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
		if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %+v %v", link, resp, err)
		}
		for _, l := range leadsOf(t, n.Client) {
			if l.Email == "never@example.com" {
				ok[*sdk.Deleted](t)(n.Leads.Delete(background, l.ID))
			}
		}
		n.work(t)
		if told := n.conversions(t); len(told) != 1 || told[0].Status != "sent" || told[0].Attempts != 1 || told[0].Reason != nil {
			t.Errorf("told is %+v", told)
		}
	})
}
