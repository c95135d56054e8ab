package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
)

// advertises connects a channel to the sandbox of a network, and returns a campaign there that runs, in dollars.
func (w *world) advertises(name string) (*sdk.SocialAccount, *sdk.AdCampaign) {
	w.t.Helper()
	api := w.api.SDK()
	c, err := api.Socials.Connect(w.t.Context(), &sdk.SocialAccountConnect{Platform: sdk.AdPlatformFacebook, DisplayName: &name})
	require.NoError(w.t, err)
	c, err = api.Socials.Activate(w.t.Context(), &sdk.SocialAccountActivate{AccountID: c.ID})
	require.NoError(w.t, err)
	list, err := api.AdCampaigns.List(w.t.Context(), &sdk.ListAdCampaignsParams{AccountID: &c.ID})
	require.NoError(w.t, err)
	at := slices.IndexFunc(list.Data, func(c sdk.AdCampaign) bool { return c.Status == sdk.AdStatusActive && c.Currency == "usd" })
	require.GreaterOrEqual(w.t, at, 0)
	return c, &list.Data[at]
}

// drafts makes an ad in a campaign of its own, of which all is switched off.
func (w *world) drafts(name string, channel *sdk.SocialAccount, in *sdk.AdCampaign) {
	w.t.Helper()
	_, err := w.api.SDK().Ads.Create(w.t.Context(), &sdk.AdCreate{
		AccountID: channel.ID, AdAccountID: in.AdAccountID, Name: name, Goal: new(sdk.AdGoalTraffic), Status: new(sdk.AdConfiguredStatusPaused),
		BudgetAmount: new(json.Number("20")), BudgetType: new(sdk.AdBudgetTypeDaily), Headline: &name, Body: new("Learn Go in a weekend."), CallToAction: new("LEARN_MORE"),
		LinkURL: new("https://example.com/" + strings.Repeat("endless", 20)), ImageURL: new("https://example.com/go.png"),
	})
	require.NoError(w.t, err)
}

func pageOf(c *sdk.AdCampaign) string { return "/app/ads/campaigns/" + c.ID + "?platform=facebook" }

func under(address, what string) string { return strings.Replace(address, "?", "/"+what+"?", 1) }

// resumeForm returns what a browser sends of the page that asks whether something is to spend money.
func resumeForm(t *testing.T, page string, ticked bool) url.Values {
	t.Helper()
	form := url.Values{"seen": {between(t, page, `name="seen" value="`, `"`)}}
	if ticked {
		form.Set("understood", "yes")
	}
	return form
}

func TestAds_ArePausedAndSpendAgainOnceThatIsUnderstood(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/ads", "There is none yet.", `href="/app/ads/channels/new"`)
		channel, c := w.advertises("Shop </script>")
		page := sees(t, w.owner, "/app/ads", c.Name, "Facebook, Shop &lt;/script&gt;", "Running")
		require.NotContains(t, page, "</script>")
		require.Contains(t, page, strings.ReplaceAll(pageOf(c), "&", "&amp;"))
		require.NotContains(t, sees(t, w.owner, "/app/ads?status=rejected"), pageOf(c))
		sees(t, w.owner, "/app/ads?status=cancelled&channel="+channel.ID, "Nothing matches.")

		at := pageOf(c)
		page = sees(t, w.owner, at, c.Name, "Spent each day", "Ad groups", "Its own switch", "Pause", `action="`+under(at, "pause")+`"`)
		group := "/app/ads/ad-groups/" + between(t, page, `href="/app/ads/ad-groups/`, `"`)
		ad := "/app/ads/ads/" + between(t, page, `href="/app/ads/ads/`, `"`)
		sees(t, w.owner, at+"&days=365", "Spent each month")
		sees(t, w.owner, group, "Shown to", c.Name)
		sees(t, w.owner, ad, "Headline", c.Name)

		require.Equal(t, at, sends(t, w.owner, under(at, "pause"), nil))
		sees(t, w.owner, at, "The campaign is paused.", "Resume", "Off")
		page = sees(t, w.owner, under(at, "resume"), "Resume "+c.Name, "At most a day", "At most in all", "Your limit for all, a day", "USD\u00a0", "I understand")
		status, refused := w.owner.Post(under(at, "resume"), resumeForm(t, page, false))
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, refused, "Tick that you understand it.")
		require.Contains(t, refused, `href="#understood"`)
		status, refused = w.owner.Post(under(at, "resume"), url.Values{"understood": {"yes"}, "seen": {"USD\u00a01.00"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, refused, "has changed since you looked")
		require.Contains(t, sees(t, w.owner, at), "Resume")
		require.Equal(t, at, sends(t, w.owner, under(at, "resume"), resumeForm(t, page, true)))
		sees(t, w.owner, at, "The campaign is resumed.", "Running", "On")
		page = sees(t, w.owner, under(at, "resume"), "It cannot be resumed", "it is as wanted already")
		require.NotContains(t, page, "I understand")

		for _, thing := range []string{group, ad} {
			require.Equal(t, thing, sends(t, w.owner, under(thing, "pause"), nil))
			page = sees(t, w.owner, under(thing, "resume"), "At most a day", "If what it is in is paused")
			status, _ = w.owner.Post(under(thing, "resume"), resumeForm(t, page, false))
			require.Equal(t, http.StatusUnprocessableEntity, status)
			require.Equal(t, thing, sends(t, w.owner, under(thing, "resume"), resumeForm(t, page, true)))
			sees(t, w.owner, thing, "is resumed.")
		}
		sees(t, w.owner, "/app/ads/log", "Pause campaign", "Resume campaign", "Resume ad group", "A member", "Done")
		require.NotContains(t, between(t, sees(t, w.owner, "/app/ads/log?operation=pause_campaign"), "<tbody>", "</tbody>"), "Resume campaign")
		sees(t, w.owner, "/app/ads/log?state=refused", "Nothing matches.")
	})
}

func TestAds_OfALimitAreNotResumed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		_, c := w.advertises("Shop")
		at := pageOf(c)
		sends(t, w.owner, under(at, "pause"), nil)
		page := sees(t, w.owner, under(at, "resume"))
		sees(t, w.owner, "/app/ads/limits", "Every other, worth", "By any share")
		sees(t, w.owner, "/app/ads/limits/edit?currency="+c.Currency, "Set a limit")
		form := url.Values{"currency": {c.Currency}, "max_daily_budget_per_campaign": {"<b>"}, "max_total_daily_budget": {"1"}}
		status, refused := w.owner.Post("/app/ads/limits/edit", form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#max_daily_budget_per_campaign"`, `value="&lt;b&gt;"`, `value="1"`, "Type an amount like 50.00."} {
			require.Contains(t, refused, piece)
		}
		form.Set("max_daily_budget_per_campaign", "0,01")
		require.Equal(t, "/app/ads/limits", sends(t, w.owner, "/app/ads/limits/edit", form))
		sees(t, w.owner, "/app/ads/limits", "The limits were changed.", strings.ToUpper(c.Currency)+"\u00a00.01", "/app/ads/limits/edit?currency="+c.Currency)
		sees(t, w.owner, under(at, "resume"), "It cannot be resumed", "limit")
		status, refused = w.owner.Post(under(at, "resume"), resumeForm(t, page, true))
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, refused, "more than the account")
		sees(t, w.owner, at, "Paused")
	})
}

func TestChannels_AreConnectedActivatedAndForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/ads/channels", "There is none yet.")
		status, page := w.owner.Post("/app/ads/channels/new", url.Values{"platform": {"pinterest"}, "display_name": {"<b>Pins"}, "token": {"secretPins"}})
		require.Equal(t, http.StatusUnprocessableEntity, status, "there is no driver here")
		require.Contains(t, page, `value="&lt;b&gt;Pins"`)
		require.NotContains(t, page, "secretPins")
		at := sends(t, w.owner, "/app/ads/channels/new", url.Values{"platform": {"pinterest"}, "display_name": {"<b>Pins"}})
		sees(t, w.owner, at, "The channel is connected.", "&lt;b&gt;Pins", "Not activated", "Activate")
		sends(t, w.owner, at+"/activate", nil)
		sees(t, w.owner, at, "Active", "Sandbox USD", "The network has disabled this ad account.", "Read it again")
		sends(t, w.owner, at+"/sync", nil)
		sees(t, w.owner, at, "was read from the network")
		status, _ = w.owner.Post(at+"/explode", nil)
		require.Equal(t, http.StatusNotFound, status)
		sends(t, w.owner, at+"/deactivate", nil)
		require.NotContains(t, sees(t, w.owner, at, "Not activated"), "Sandbox USD")
		sends(t, w.owner, at+"/activate", nil)
		sees(t, w.owner, at+"/disconnect", "Disconnect &lt;b&gt;Pins", "pause it first")
		require.Equal(t, "/app/ads/channels", sends(t, w.owner, at+"/disconnect", nil))
		sees(t, w.owner, "/app/ads/channels", "go on running at the network", "There is none yet.")
		status, _ = w.owner.Get(at)
		require.Equal(t, http.StatusNotFound, status)
	})
}

func TestAds_OfWhichAllIsOffSpendNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		channel, running := w.advertises("Shop")
		w.drafts("Autumn", channel, running)
		page := sees(t, w.owner, "/app/ads", "Autumn")
		at := "/app/ads/campaigns/" + between(t, page, `href="/app/ads/campaigns/`, `"`)
		sees(t, w.owner, under(at, "resume"), "Resume Autumn", "USD\u00a00.00, as long as its ad groups are off")
		group := "/app/ads/ad-groups/" + between(t, sees(t, w.owner, at), `href="/app/ads/ad-groups/`, `"`)
		page = sees(t, w.owner, under(group, "resume"), "USD\u00a020.00", "No end")
		sends(t, w.owner, under(group, "resume"), resumeForm(t, page, true))
		sees(t, w.owner, under(at, "resume"), "USD\u00a020.00", "No end")
	})
}

func TestAds_OfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.advertises("Mine")
		other := newStranger(w)
		channel, c := other.advertises("Theirs")
		at := pageOf(c)
		page := sees(t, other.owner, at)
		for _, address := range []string{
			at, under(at, "resume"), "/app/ads/ad-groups/" + between(t, page, `href="/app/ads/ad-groups/`, `"`), "/app/ads/ads/" + between(t, page, `href="/app/ads/ads/`, `"`),
			"/app/ads/channels/" + channel.ID, "/app/ads/channels/" + channel.ID + "/disconnect", "/app/ads?channel=" + channel.ID,
		} {
			status, text := w.owner.Get(address)
			assert.Equal(t, http.StatusNotFound, status, address)
			assert.NotContains(t, text, "Theirs", address)
		}
		for _, address := range []string{under(at, "pause"), under(at, "resume"), "/app/ads/channels/" + channel.ID + "/deactivate", "/app/ads/channels/" + channel.ID + "/disconnect"} {
			status, _ := w.owner.Post(address, url.Values{"understood": {"yes"}})
			assert.Equal(t, http.StatusNotFound, status, address)
		}
		sees(t, other.owner, at, "Running")

		for _, role := range []person.Role{person.RoleReadOnly, person.RoleSupport, person.RoleDeveloper} {
			p := w.Member(t, other.api.Account, role)
			page := sees(t, p, at, "Running")
			assert.NotContains(t, page, `/pause?`, role)
			assert.NotContains(t, page, "/resume", role)
			assert.NotContains(t, sees(t, p, "/app/ads/limits"), "/edit")
			assert.NotContains(t, sees(t, p, "/app/ads/channels/"+channel.ID), "/disconnect")
			status, _ := p.Get(under(at, "resume"))
			assert.Equal(t, http.StatusForbidden, status)
			status, _ = p.Post(under(at, "pause"), nil)
			assert.Equal(t, http.StatusForbidden, status)
		}
	})
}
