package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// advertiser is a shop with a channel that is activated for ads.
type advertiser struct {
	*shop
	channel, adAccount string
}

func newAdvertiser(t *testing.T, platform sdk.AdPlatform) *advertiser {
	t.Helper()
	return newAdvertiserAt(t, database.URL(t, "sqlite"), platform)
}

func newAdvertiserAt(t *testing.T, url string, platform sdk.AdPlatform) *advertiser {
	t.Helper()
	a := &advertiser{shop: newShop(t, url)}
	a.resource = "ads"
	a.channel, a.adAccount = a.activate(t, platform)
	return a
}

// activate connects a channel, and returns it with an ad account that is paid in dollars.
func (a *advertiser) activate(t *testing.T, platform sdk.AdPlatform) (channel, adAccount string) {
	t.Helper()
	c, err := a.Socials.Connect(t.Context(), &sdk.SocialAccountConnect{Platform: platform})
	require.NoError(t, err)
	_, err = a.Socials.Activate(t.Context(), &sdk.SocialAccountActivate{AccountID: c.ID})
	require.NoError(t, err)
	for account, err := range sdk.All(t.Context(), a.AdAccounts.List, &sdk.ListAdAccountsParams{AccountID: c.ID}) {
		require.NoError(t, err)
		if account.Selectable && account.Currency == "usd" {
			return c.ID, account.ID
		}
	}
	require.FailNow(t, "the channel has no ad account in dollars")
	return "", ""
}

// campaign makes one that may spend 20 dollars a day, and returns its id.
func (a *advertiser) campaign(t *testing.T, name string) string {
	t.Helper()
	ad, err := a.Client.Ads.Create(t.Context(), a.draft(name))
	require.NoError(t, err)
	return ad.CampaignID
}

// draft is an ad in a campaign that may spend 20 dollars a day.
func (a *advertiser) draft(name string) *sdk.AdCreate {
	return &sdk.AdCreate{
		AccountID: a.channel, AdAccountID: a.adAccount, Name: name, Goal: new(sdk.AdGoalTraffic),
		BudgetAmount: new(json.Number("20")), BudgetType: new(sdk.AdBudgetTypeDaily), BudgetLevel: new(sdk.AdCreateBudgetLevelCampaign),
		Headline: new("The Go Handbook"), Body: new("Learn Go in a weekend."), CallToAction: new("LEARN_MORE"),
		LinkURL: new("https://example.com/go"), ImageURL: new("https://example.com/go.png"),
	}
}

func (a *advertiser) statusOf(t *testing.T, campaign string) sdk.AdConfiguredStatus {
	t.Helper()
	c, err := a.AdCampaigns.Get(t.Context(), campaign, nil)
	require.NoError(t, err)
	return c.ConfiguredStatus
}

// adsRun is what a command wrote, and what it says on failure.
type adsRun struct{ out, notes, failure string }

// run runs `tillwright ads` where nobody can be asked.
func (a *advertiser) run(t *testing.T, args ...string) adsRun {
	t.Helper()
	var out, notes bytes.Buffer
	cmd := newCommand()
	cmd.SetOut(&out)
	cmd.SetErr(&notes)
	cmd.SetIn(strings.NewReader("y\n"))
	cmd.SetArgs(append([]string{"ads", args[0], "--api-url", a.url, "--api-key", a.account.Key}, args[1:]...))
	p := adsRun{}
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		p.failure = explain(err)
	}
	p.out, p.notes = out.String(), notes.String()
	return p
}

// cells returns the cells of the line of a table that begins with an id.
func cells(t *testing.T, table, id string) []string {
	t.Helper()
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, id+" ") {
			return strings.Split(strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == '\n' }), ""), "  ")
		}
	}
	require.FailNow(t, "no line begins with "+id, table)
	return nil
}

func TestAdCampaigns_AreATable(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	mine := a.campaign(t, "Spring\x1b[2J\tsale")
	p := a.run(t, "campaigns")
	require.Empty(t, p.failure)
	require.Regexp(t, `^ID +NAME +PLATFORM +STATUS +BUDGET +SPEND +IMPRESSIONS +CLICKS +CTR +CPC +CONVERSIONS\n`, p.out)
	require.Regexp(t, `(?m)^`+mine+` +Spring\\x1b\[2J\\tsale +facebook +active +20\.00 USD daily +0(\.\d+)? USD +\d+ +\d+ +`, p.out)
	require.Regexp(t, `(?m)^\S+ +.* facebook +active +.* +[1-9]\d*\.\d+ [A-Z]{3} +[\d,]+ +[\d,]+ +\d+(\.\d+)? % +\d+\.\d+ +\d`, p.out, "one has run before")
	header, line := strings.Index(p.out, "STATUS"), p.out[strings.Index(p.out, "\n"+mine)+1:]
	require.Equal(t, "  active", line[header-2:header+6], "columns are aligned")

	all, err := a.campaigns(t.Context(), &sdk.ListAdCampaignsParams{Limit: new(int64(2))})
	require.NoError(t, err)
	require.Greater(t, len(all), 4)
	require.Len(t, strings.Split(strings.TrimSpace(p.out), "\n"), len(all)+1)
	for _, c := range all {
		require.NotEmpty(t, cells(t, p.out, c.ID))
	}
}

func TestAdCampaigns_Filter(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	mine := a.campaign(t, "Spring")
	other, _ := a.activate(t, sdk.AdPlatformGoogle)
	everything := a.run(t, "campaigns").out
	require.Contains(t, everything, " google ")
	for _, filter := range [][]string{{"--platform", "facebook"}, {"--account", a.channel}} {
		out := a.run(t, append([]string{"campaigns"}, filter...)...).out
		require.NotContains(t, out, " google ", filter)
		require.Contains(t, out, mine, filter)
	}
	require.NotContains(t, a.run(t, "campaigns", "--account", other).out, mine)
	require.NotContains(t, a.run(t, "campaigns", "--status", "paused, completed").out, mine)
	require.Contains(t, a.run(t, "campaigns", "--status", "paused,active").out, mine)

	var list struct{ Data []sdk.AdCampaign }
	require.NoError(t, json.Unmarshal([]byte(a.run(t, "campaigns", "--json", "--from", "2026-01-02", "--to", "2026-02-03").out), &list))
	require.NotEmpty(t, list.Data)
	for _, c := range list.Data {
		require.Equal(t, "2026-01-02 2026-02-03", *c.Metrics.From+" "+*c.Metrics.To)
	}
}

func TestAdCampaigns_SayWhatToDoWithoutAny(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	p := a.run(t, "campaigns", "--platform", "tiktok")
	require.Equal(t, adsRun{out: "No campaign fits. Leave out a filter to see more.\n"}, p)
	var list map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.run(t, "campaigns", "--platform", "tiktok", "--json").out), &list))
	require.Empty(t, list["data"])

	_, err := a.Socials.Deactivate(t.Context(), a.channel)
	require.NoError(t, err)
	require.Contains(t, a.run(t, "campaigns").failure, "/socials/activate")
	require.Contains(t, (&campaignFilters{from: "2026-01-01"}).none("http://x/v1"), "POST http://x/v1/ads makes one")
}

func TestAds_SayWhatIsWrong(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	for command, reason := range map[string]string{
		"campaigns --platform myspace":            "platform must be",
		"campaigns --status running":              "status",
		"campaigns --from yesterday":              "from must be",
		"campaigns --account sacct_none":          "No such",
		"campaigns --api-key sk_other":            "does not know this API key",
		"pause":                                   "requires at least 1 arg",
		"limits --per-campaign 5":                 "Pass --currency",
		"limits --currency usd":                   "pass --per-campaign, --total or --bid",
		"limits --currency usd --total much":      "--total must be an amount",
		"limits --currency usd --total 5 --reset": "or --reset alone",
		"upload aud_none none.csv":                "No such audience",
		"upload aud_none":                         "accepts 2 arg",
		"campaigns --api-key " + a.Key(t, a.account.Account, "orders:read"):                                 "needs the scopes ads:read and ads:write",
		"limits --currency usd --total 5 --api-key " + a.Key(t, a.account.Account, "ads:read", "ads:write"): "needs the scopes ads:read and ad_limits:write",
	} {
		require.Contains(t, a.run(t, strings.Fields(command)...).failure, reason, command)
	}
}

func TestAdLimits_AreShownAndSet(t *testing.T) {
	t.Parallel()
	a := newAdvertiser(t, sdk.AdPlatformFacebook)
	p := a.run(t, "limits")
	require.Empty(t, p.failure)
	require.Regexp(t, `^CURRENCY +A CAMPAIGN A DAY +ALL A DAY +A BID\nany other, in usd +10000\.00 +50000\.00 +any\n$`, p.out)
	p = a.run(t, "limits", "--currency", "usd", "--per-campaign", "99.50", "--bid", "3")
	require.Regexp(t, `\nusd +99\.50 +50000\.00 +3\.00\nany other`, p.out, p.failure)
	require.Regexp(t, `\nusd +99\.50 +700\.00 +any\n`, a.run(t, "limits", "--currency", "usd", "--total", "700", "--bid", "any").out)
	limits, err := a.AdLimits.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, json.Number("700.00"), limits.Currencies["usd"].MaxTotalDailyBudget)
	require.NotContains(t, a.run(t, "limits", "--currency", "usd", "--reset").out, "700.00")
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.run(t, "limits", "--json").out), &object))
	require.Equal(t, "ad_limits", object["object"])
}
