package contract

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// formOf returns a token for forms of an account, and the moment from which it works.
func formOf(t testing.TB, c *harness.Client, account string) (string, time.Time) {
	t.Helper()
	form := c.Must(t, http.MethodGet, "/public/lead_forms/"+account, nil)
	return form["token"].(string), time.Now().Add(2 * time.Second)
}

// openForm returns a token for forms of an account that works.
func openForm(t *testing.T, c *sdk.Client) string {
	t.Helper()
	form := ok[*sdk.LeadForm](t)(c.PublicLeads.GetForm(background, ok[*sdk.Account](t)(c.Account.Get(background)).ID))
	until := ok[time.Time](t)(time.Parse(time.RFC3339, string(form.ExpiresAt)))
	left := time.Until(until)
	assert.GreaterOrEqual(t, left, 23*time.Hour, "the form works")
	assert.LessOrEqual(t, left, 24*time.Hour, "the form works")
	time.Sleep(2 * time.Second)
	return form.Token
}

func send(t *testing.T, c *sdk.Client, body *sdk.PublicLeadCreate) {
	t.Helper()
	got := ok[*sdk.LeadReceipt](t)(c.PublicLeads.Create(background, body))
	assert.Equal(t, "lead_receipt", got.Object, "the receipt")
	assert.EqualValues(t, "received", got.Status, "the receipt")
}

func leadsOf(t *testing.T, c *sdk.Client) []sdk.Lead {
	t.Helper()
	return ok[*sdk.LeadList](t)(c.Leads.List(background, nil, sdk.Expand("customer", "product"))).Data
}

func TestPublicLead_KeepsWhatAFormSends(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: s.Hooks.URL, EnabledEvents: []string{"lead.created"}}))
		product := onSale(t, c, 1900).Product
		form := openForm(t, c)
		send(t, c, &sdk.PublicLeadCreate{
			FormToken: form, Email: "Ada@example.com", Name: new("Ada"), Phone: new("+44 20"), Product: new("guide"), Consent: new(true), UTM: &sdk.LeadUTM{Source: new("newsletter")},
		})
		leads := leadsOf(t, c)
		if len(leads) != 1 {
			t.Fatalf("the leads are %+v", leads)
		}
		switch got := leads[0]; {
		case got.Email != "Ada@example.com", *got.Name != "Ada", *got.Phone != "+44 20", got.Source != "form", got.Status != "new", *got.UTM.Source != "newsletter", got.Product.ID != product.ID:
			t.Errorf("the lead is %+v", got)
		case !got.Consent.Marketing, *got.Consent.At != got.CreatedAt, !strings.HasPrefix(*got.Consent.IP, "127."), got.Consent.ConfirmedAt != nil:
			t.Errorf("the consent is %+v", got.Consent)
		case got.Customer.Object.Email != "Ada@example.com", got.Customer.Object.Type != "lead", got.Customer.Object.Name != nil:
			t.Errorf("the customer, of whom a stranger typed a name, is %+v", got.Customer.Object)
		}
		s.Hooks.Await(t, 1, "lead.created")
		if letters := s.Mail.Letters(); len(letters) != 0 {
			t.Errorf("nobody is to confirm anything, but %+v was sent", letters)
		}
	})
}

// Whoever types an address need not be who it belongs to, and does not learn whether it is known.
func TestPublicLead_ChangesAndTellsNothingOfWhoIsKnown(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		owner := s.Account(t)
		c := owner.SDK()
		known := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "ada@example.com", Name: new("Ada")}))
		left := ok[*sdk.Lead](t)(c.Leads.Create(background, &sdk.LeadCreate{Email: "left@example.com", Status: new(sdk.LeadStatus("unsubscribed"))}))
		form := openForm(t, c)
		var first *harness.Response
		for _, body := range []map[string]any{
			{"email": "new@example.com"}, {"email": "ADA@example.com", "name": "Mallory", "phone": "1", "utm": map[string]any{"source": "x"}},
			{"email": "left@example.com", "consent": true}, {"email": "trapped@example.com", "website": "https://spam.example"},
		} {
			body["form_token"] = form
			resp := owner.Do(t, http.MethodPost, "/public/leads", body)
			if first == nil {
				first = resp
			}
			assert.Equal(t, http.StatusOK, resp.Status, body)
			assert.True(t, bytes.Equal(resp.Body, first.Body), body)
		}
		for _, was := range []*sdk.Lead{known, left} {
			got := ok[*sdk.Lead](t)(c.Leads.Get(background, was.ID))
			if !bytes.Equal(harness.Encode(got), harness.Encode(was)) {
				t.Errorf("%s became %s", harness.Encode(was), harness.Encode(got))
			}
		}
		leads := leadsOf(t, c)
		require.Len(t, leads, 3, "the leads")
		assert.Equal(t, "new@example.com", leads[0].Email, "the leads")
		assert.False(t, leads[0].Consent.Marketing, "the leads")
		send(t, c, &sdk.PublicLeadCreate{FormToken: form, Email: "ada@example.com", Consent: new(true)})
		send(t, c, &sdk.PublicLeadCreate{FormToken: form, Email: "ada@example.com", Consent: new(false)})
		got := ok[*sdk.Lead](t)(c.Leads.Get(background, known.ID))
		assert.True(t, got.Consent.Marketing, "after a yes and a no the lead")
		assert.Equal(t, "Ada", *got.Name, "after a yes and a no the lead")
	})
}

func TestPublicLead_NeedsATokenAndWhatIsOnSale(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		account := ok[*sdk.Account](t)(c.Account.Get(background)).ID
		ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Draft", Slug: new("draft")}))
		young := ok[*sdk.LeadForm](t)(c.PublicLeads.GetForm(background, account)).Token
		form := openForm(t, c)
		other := ok[*sdk.LeadForm](t)(c.PublicLeads.GetForm(background, ok[*sdk.Account](t)(s.SDK(t).Account.Get(background)).ID)).Token
		just := ok[*sdk.LeadForm](t)(c.PublicLeads.GetForm(background, account)).Token
		changed := "0" + form[1:]
		if form[0] == '0' {
			changed = "1" + form[1:]
		}
		mixed := other[:strings.LastIndexByte(other, '_')] + form[strings.LastIndexByte(form, '_'):]
		for what, token := range map[string]string{"young": just, "changed": changed, "cut": form[:len(form)-1], "of two": mixed, "no token": "x"} {
			_, err := c.PublicLeads.Create(background, &sdk.PublicLeadCreate{FormToken: token, Email: "ada@example.com"}, sdk.WithIdempotencyKey(unique()))
			t.Log(what)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "form_token")
		}
		for _, product := range []string{"draft", "nothing"} {
			_, err := c.PublicLeads.Create(background, &sdk.PublicLeadCreate{FormToken: form, Email: "ada@example.com", Product: &product})
			refused(t, err, http.StatusNotFound, "resource_missing", "product")
		}
		_, err := c.PublicLeads.Create(background, &sdk.PublicLeadCreate{FormToken: form, Email: ".ada@example.com"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "email")
		if leads := leadsOf(t, c); len(leads) != 0 {
			t.Errorf("the leads are %+v", leads)
		}
		send(t, c, &sdk.PublicLeadCreate{FormToken: young, Email: "ada@example.com"}) // it has grown old enough
		enable := s.Disable(t, account)
		_, err = c.PublicLeads.GetForm(background, account)
		refused(t, err, http.StatusNotFound, "resource_missing", "")
		_, err = c.PublicLeads.Create(background, &sdk.PublicLeadCreate{FormToken: form, Email: "grace@example.com"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "form_token")
		enable()
	})
}

func TestPublicLead_AgreesToNothingBeforeALetterIsConfirmed(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		who := unique() + "@example.com"
		if a := ok[*sdk.Account](t)(c.Account.Get(background)); a.LeadConfirmation != "none" {
			t.Errorf("a new account's lead_confirmation is %s", a.LeadConfirmation)
		}
		double := sdk.LeadConfirmation("double_opt_in")
		if a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{LeadConfirmation: &double})); a.LeadConfirmation != double {
			t.Errorf("lead_confirmation is %s", a.LeadConfirmation)
		}
		form := openForm(t, c)
		send(t, c, &sdk.PublicLeadCreate{FormToken: form, Email: "silent-" + who})
		send(t, c, &sdk.PublicLeadCreate{FormToken: form, Email: who, Consent: new(true)})
		got := leadsOf(t, c)[0]
		assert.False(t, got.Consent.Marketing, "before the letter the consent")
		assert.NotNil(t, got.Consent.At, "before the letter the consent")
		assert.Nil(t, got.Consent.ConfirmedAt, "before the letter the consent")
		comes(func() bool { return len(s.Mail.LettersWith(who)) > 0 })
		letters := s.Mail.LettersWith(who)
		require.Len(t, letters, 1, "the letters")
		assert.Equal(t, who, letters[0].To, "the letters")
		assert.Contains(t, letters[0].Text, "/subscribe/", "the letters")
	})
}

// What an address sends twice at once is one lead.
func TestPublicLead_IsOneOfManyAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		form := openForm(t, c)
		errs := make(chan error)
		for range 6 {
			go func() {
				_, err := c.PublicLeads.Create(background, &sdk.PublicLeadCreate{FormToken: form, Email: "ada@example.com", Consent: new(true)})
				errs <- err
			}()
		}
		for range 6 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		leads := leadsOf(t, c)
		require.Len(t, leads, 1, "the leads")
		assert.True(t, leads[0].Consent.Marketing, "the leads")
	})
}

func TestPublicLead_IsTakenFromPagesOfEverySiteTenTimesAMinute(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		harness.OpenDatabase(t, url).StopClock(t)
		s := boot(t, url)
		owner := s.Account(t)
		form := openForm(t, owner.SDK())
		page := s.From(t, "127.0.0.9")
		s.Clock.Stop()
		for path, method := range map[string]string{"/public/lead_forms/" + owner.Account: "GET", "/public/leads": "POST", "/v1/public/leads": "POST"} {
			resp, err := page.Try(http.MethodOptions, path, nil, "Origin", "https://shop.example", "Access-Control-Request-Method", method)
			require.NoError(t, err, path)
			assert.Equal(t, http.StatusNoContent, resp.Status, path)
			assert.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"), path)
			assert.Contains(t, resp.Header.Get("Access-Control-Allow-Methods"), method, path)
		}
		if resp := page.Do(t, http.MethodGet, "/public/lead_forms/"+owner.Account, nil); resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("the form is answered with %v", resp.Header)
		}
		visitor, n := s.From(t, "127.0.0.10"), 0
		for ; n < 20; n++ {
			resp := visitor.Do(t, http.MethodPost, "/public/leads", map[string]any{"form_token": form, "email": unique() + "@example.com"}, "Origin", "https://shop.example")
			if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("a page may not read %d with %v", resp.Status, resp.Header)
			}
			if resp.Status != http.StatusOK {
				resp.Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
				break
			}
		}
		if n != 10 {
			t.Errorf("one address is answered %d times a minute", n)
		}
	})
}
