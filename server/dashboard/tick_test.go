package dashboard_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// older returns what the form of a page sends that was drawn before the server was upgraded. It has none of some boxes, which are named by their name, or
// by name and value.
func older(t *testing.T, page string, boxes ...string) url.Values {
	t.Helper()
	_, form := markup.Form(t, page, "Save")
	for _, box := range boxes {
		name, value, isOne := strings.Cut(box, "=")
		if !isOne {
			value = "yes"
		}
		require.Contains(t, strings.Join(form[name+".shown"], " "), value)
		for i, shown := range form[name+".shown"] {
			form[name+".shown"][i] = strings.ReplaceAll(shown, value, "")
		}
		form[name] = slices.DeleteFunc(form[name], func(ticked string) bool { return ticked == value })
	}
	return form
}

// A page that was drawn before an upgrade lacks the boxes of the newer version. What these stand for stays as it is, also if the form is shown again.
func TestForms_ChangeOnlyTheBoxesThatTheyShow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		api := w.api.SDK()
		_, err := api.Account.Update(t.Context(), &sdk.AccountUpdate{
			CheckoutRequiresTerms: new(true), TrialOncePerCustomer: new(true), Letters: map[string]bool{"sale": true, "checkout_abandoned": true},
		})
		require.NoError(t, err)
		account := func() *sdk.Account {
			a, err := api.Account.Get(t.Context())
			require.NoError(t, err)
			return a
		}
		form := older(t, sees(t, w.owner, "/app/settings/letters"), "sale", "domain_failing")
		form.Del("week_figures")
		sends(t, w.owner, "/app/settings/letters", form)
		letters := account().Letters
		assert.Equal(t, []bool{true, true, true, false}, []bool{letters.Sale, letters.DomainFailing, letters.SalesDaily, letters.WeekFigures})

		form = older(t, sees(t, w.owner, "/app/settings/business"), "trial_once_per_customer", "letters.checkout_abandoned")
		form.Del("checkout_requires_terms")
		form.Set("timezone", "Mars")
		status, page := w.owner.Post("/app/settings/business", form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		_, form = markup.Form(t, page, "Save")
		form.Set("timezone", "UTC")
		sends(t, w.owner, "/app/settings/business", form)
		a := account()
		assert.Equal(t, []bool{false, true, true}, []bool{a.CheckoutRequiresTerms, a.TrialOncePerCustomer, a.Letters.CheckoutAbandoned})
		sends(t, w.owner, "/app/settings/business", older(t, sees(t, w.owner, "/app/settings/business"), "trial_once_per_customer", "letters.checkout_abandoned"))
		a = account()
		assert.Equal(t, []bool{true, true}, []bool{a.TrialOncePerCustomer, a.Letters.CheckoutAbandoned})

		c, err := api.Customers.Create(t.Context(), &sdk.CustomerCreate{Email: "grace@example.com", TaxExempt: new(true)})
		require.NoError(t, err)
		at := "/app/customers/" + c.ID + "/edit"
		sends(t, w.owner, at, older(t, sees(t, w.owner, at), "tax_exempt"))
		c, err = api.Customers.Get(t.Context(), c.ID)
		require.NoError(t, err)
		assert.True(t, c.TaxExempt)

		l, err := api.LegalPages.Create(t.Context(), &sdk.LegalPageCreate{Kind: sdk.LegalPageKindTerms, Title: "Terms", RequiresAcceptance: new(true)})
		require.NoError(t, err)
		at = "/app/content/legal/" + l.ID
		sends(t, w.owner, at, older(t, sees(t, w.owner, at), "requires_acceptance"))
		l, err = api.LegalPages.Get(t.Context(), l.ID)
		require.NoError(t, err)
		assert.True(t, l.RequiresAcceptance)
	})
}

// Of boxes of one name, those that a page does not have stay ticked.
func TestForms_KeepWhatTheyHaveNoBoxOf(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		api := w.api.SDK()
		hook, err := api.WebhookEndpoints.Create(t.Context(), &sdk.WebhookEndpointCreate{URL: w.Hooks.URL, EnabledEvents: []string{"lead.created", "order.created", "order.paid"}})
		require.NoError(t, err)
		at := "/app/developers/webhooks/" + hook.ID
		form := older(t, sees(t, w.owner, at+"/edit"), "enabled_events=order.created")
		form["enabled_events"] = []string{"order.paid"}
		form.Set("url", "ftp://example.com")
		status, page := w.owner.Post(at+"/edit", form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		assert.Contains(t, page, `value="order.created" checked`)
		assert.NotContains(t, page, `value="lead.created" checked`)
		form.Set("url", w.Hooks.URL)
		sends(t, w.owner, at+"/edit", form)
		hook, err = api.WebhookEndpoints.Get(t.Context(), hook.ID)
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"order.created", "order.paid"}, hook.EnabledEvents)
		form.Del("once") // each is another request
		form.Del("enabled_events")
		sends(t, w.owner, at+"/edit", form)
		sees(t, w.owner, at, "All events")
		form.Set("enabled_events", "order.paid")
		sends(t, w.owner, at+"/edit", form)
		hook, err = api.WebhookEndpoints.Get(t.Context(), hook.ID)
		require.NoError(t, err)
		assert.Equal(t, []string{"order.paid"}, hook.EnabledEvents)

		var files []string
		for _, name := range []string{"a.zip", "b.zip", "c.zip"} {
			f, err := api.Files.Create(t.Context(), &sdk.FileCreate{Name: name, Size: 1})
			require.NoError(t, err)
			files = append(files, f.ID)
		}
		e, err := api.Experiences.Create(t.Context(), &sdk.ExperienceCreate{Name: "Download", Type: sdk.ExperienceTypeDownload, Content: &sdk.ExperienceContent{Files: files}})
		require.NoError(t, err)
		at = "/app/content/experiences/" + e.ID
		form = older(t, sees(t, w.owner, at), "content.files="+files[2])
		form["content.files"] = files[:1]
		sends(t, w.owner, at, form)
		e, err = api.Experiences.Get(t.Context(), e.ID)
		require.NoError(t, err)
		assert.Equal(t, []string{files[0], files[2]}, e.Content.Files)
	})
}
