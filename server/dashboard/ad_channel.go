package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const channelsPage = adsPage + "/channels"

func channelBadge(s sdk.SocialAdsStatus) *ui.Badge {
	switch s {
	case sdk.SocialAdsStatusActive:
		return &ui.Badge{Text: "Active", Tone: "good", Icon: "check"}
	case sdk.SocialAdsStatusError:
		return &ui.Badge{Text: "Not let in", Tone: "bad", Icon: "alert"}
	case sdk.SocialAdsStatusInactive:
	}
	return &ui.Badge{Text: "Not activated", Icon: "lock"}
}

// tokenCell says how long the network lets this server in.
func (d *Dashboard) tokenCell(v *visit, c *sdk.SocialAccount) ui.Cell {
	switch {
	case c.Driver == "sandbox":
		return ui.Cell{Text: "None needed: it is a sandbox, which spends nothing"}
	case c.AdsStatus == sdk.SocialAdsStatusError:
		return ui.Cell{Badge: &ui.Badge{Text: "Refused by the network", Tone: "bad", Icon: "alert"}}
	case c.TokenExpiresAt == nil:
		return ui.Cell{Text: "No end is known"}
	case c.TokenExpiresAt.Time().Before(d.store.Now().Time()):
		return ui.Cell{Badge: &ui.Badge{Text: "Expired", Tone: "bad", Icon: "alert"}}
	}
	return v.when(c.TokenExpiresAt)
}

// channelList lists the profiles through which ads are made.
func (d *Dashboard) channelList(v *visit) error {
	after, before := v.position()
	list, err := d.api.Socials.List(v.ctx(), &sdk.ListSocialAccountsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before})
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Channels", Columns: []string{"Name", "Network", "State", "Let in until"}, Empty: noChannel(v)}
	for i := range list.Data {
		c := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: cmp.Or(c.DisplayName, c.Username, c.ID), Address: channelsPage + "/" + c.ID}, platformCell(c.Platform), {Badge: channelBadge(c.AdsStatus)}, d.tokenCell(v, c)})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	p := ui.Page{Heading: "Channels", Up: &ui.Link{Text: "Ads", Address: adsPage}, Tabs: adTabs(channelsPage), Lead: "A channel is your profile or page at a network, through which this server may see and make ads.", Table: t}
	if v.may("ads:write") {
		p.Actions = []ui.Link{{Text: "Connect a channel", Address: channelsPage + "/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

func channelForm(v *visit) *ui.Form {
	return &ui.Form{Submit: "Connect", Cancel: channelsPage, Once: newOnce(), Controls: []ui.Control{
		{Kind: "select", Name: "platform", Label: "Network", Options: chosen(v.field("platform"), platforms...)},
		{Name: "display_name", Label: "Name", Hint: "What you call it here.", Value: v.field("display_name"), Longest: 255, Optional: true},
		{Kind: "password", Name: "token", Label: "Access token", Hint: "The network gives it to your app. A profile that is connected already gets this one, and keeps what it has. It is sealed, and never shown again. Without one you get a sandbox, which plays the network and spends nothing.", Autocomplete: "off", Optional: true},
		{Name: "platform_account_id", Label: "Id of the profile or page", Hint: "The network's own. Needed if the token is of several.", Value: v.field("platform_account_id"), Longest: 255, Optional: true},
		{Name: "scoped_ad_account_ids", Label: "Only these ad accounts", Hint: "The network's ids, with commas between them. Empty for all that the token reaches.", Value: v.field("scoped_ad_account_ids"), Longest: 2000, Optional: true},
	}}
}

func newChannelPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "Connect a channel", Up: &ui.Link{Text: "Channels", Address: channelsPage}, Form: f}
}

// newChannel shows the form for a channel.
func (d *Dashboard) newChannel(v *visit) error {
	return v.show(http.StatusOK, newChannelPage(channelForm(v)))
}

// connectChannel lets this server in at a network. Nothing is advertised before the channel is activated.
func (d *Dashboard) connectChannel(v *visit) error {
	f := channelForm(v)
	in := &sdk.SocialAccountConnect{
		Platform: sdk.AdPlatform(v.field("platform")), DisplayName: v.optional("display_name"), Token: v.optional("token"), PlatformAccountID: v.optional("platform_account_id"),
		ScopedAdAccountIDs: listed(v.field("scoped_ad_account_ids")),
	}
	c, err := d.api.Socials.Connect(v.ctx(), in, v.once())
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, newChannelPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(channelsPage+"/"+c.ID, person.Notice{Text: "The channel is connected. Activate it to see and make ads."})
}

// listed returns what stands between commas.
func listed(s string) []string {
	var all []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// hasToken reports whether a channel is let in by a token that somebody brings here.
func hasToken(c *sdk.SocialAccount) bool { return c.Driver != "sandbox" && c.Driver != "zernio" }

// channel shows a channel, and the ad accounts that it reaches.
func (d *Dashboard) channel(v *visit) error {
	c, err := d.api.Socials.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	at := channelsPage + "/" + c.ID
	terms := []ui.Term{
		{Name: "Network", Value: platformCell(c.Platform)}, {Name: "Profile", Value: ui.Cell{Text: cmp.Or(c.Username, core.Deref(c.PlatformAccountID))}},
		{Name: "Let in until", Value: d.tokenCell(v, c)}, {Name: "May", Value: ui.Cell{Text: strings.Join(c.Scopes, ", ")}},
		{Name: "Activated", Value: v.when(c.AdsActivatedAt)}, {Name: "Goes by way of", Value: textCell(c.ThirdParty)}, {Name: "What the network said", Value: textCell(c.LastError)},
		{Name: "Id", Value: ui.Cell{Text: c.ID, Code: true}},
	}
	p := ui.Page{Heading: cmp.Or(c.DisplayName, c.Username, c.ID), Badge: channelBadge(c.AdsStatus), Up: &ui.Link{Text: "Channels", Address: channelsPage}, Sections: []ui.Section{{Terms: terms}}}
	if c.AdsStatus == sdk.SocialAdsStatusActive {
		t, err := d.adAccountTable(v, c)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, ui.Section{Title: "Ad accounts", Table: t})
	}
	if v.may("ads:write") {
		moves := []ui.Form{{Action: at + "/activate", Submit: "Activate", Inline: true, Once: newOnce()}}
		if c.AdsStatus != sdk.SocialAdsStatusInactive {
			moves = []ui.Form{{Action: at + "/sync", Submit: "Read it again", Inline: true, Once: newOnce()}, {Action: at + "/deactivate", Submit: "Deactivate", Inline: true, Once: newOnce()}}
		}
		p.Sections = slices.Insert(p.Sections, 1, ui.Section{Forms: moves})
		if hasToken(c) {
			again := url.Values{"platform": {string(c.Platform)}, "display_name": {c.DisplayName}, "platform_account_id": {core.Deref(c.PlatformAccountID)}}
			p.Actions = append(p.Actions, ui.Link{Text: "Replace token", Address: channelsPage + "/new?" + again.Encode()})
		}
		p.Actions = append(p.Actions, ui.Link{Text: "Disconnect", Address: at + "/disconnect", Danger: true})
	}
	return v.show(http.StatusOK, p)
}

// adAccountTable lists the ad accounts that a channel reaches, disabled ones too.
func (d *Dashboard) adAccountTable(v *visit, c *sdk.SocialAccount) (*ui.Table, error) {
	list, err := d.api.AdAccounts.List(v.ctx(), &sdk.ListAdAccountsParams{AccountID: c.ID, Page: new(v.pageNumber()), Limit: new(onPage)})
	if err != nil {
		return nil, err
	}
	t := &ui.Table{Label: "Ad accounts", Columns: []string{"Name", "State", "Why", "Spent so far", "The network's cap", "Days of", "Id"}, Empty: &ui.Empty{Text: "It reaches no ad account."}}
	for i := range list.Data {
		a := &list.Data[i]
		badge := &ui.Badge{Text: "Usable", Tone: "good", Icon: "check"}
		if !a.Selectable {
			badge = &ui.Badge{Text: "Not usable", Tone: "bad", Icon: "alert"}
		}
		t.Rows = append(t.Rows, []ui.Cell{{Text: a.Name}, {Badge: badge}, textCell(a.UnusableReason), spendCell(&a.AmountSpent, a.Currency), spendCell(a.SpendCap, a.Currency), {Text: a.Timezone}, {Text: a.ID, Code: true}})
	}
	v.turnPages(t, v.pageNumber(), list.HasMore)
	return t, nil
}

// moveChannel activates or deactivates a channel, or reads what is in it.
func (d *Dashboard) moveChannel(v *visit) error {
	id, said := v.Param("id"), ""
	var err error
	switch v.Param("move") {
	case "activate":
		said = "The channel is active. Its campaigns are there."
		_, err = d.api.Socials.Activate(v.ctx(), &sdk.SocialAccountActivate{AccountID: id}, v.once())
	case "deactivate":
		said = "The channel is not active any more. What runs at the network goes on running."
		_, err = d.api.Socials.Deactivate(v.ctx(), id, v.once())
	case "sync":
		said = "The channel was read from the network."
		_, err = d.api.Socials.Sync(v.ctx(), id, v.once())
	default:
		err = core.Missing("page", "", v.Param("move"))
	}
	if err != nil {
		return err
	}
	return v.done(channelsPage+"/"+id, person.Notice{Text: said})
}

// disconnectForm says what happens when a channel is disconnected.
func (d *Dashboard) disconnectForm(v *visit) error {
	c, err := d.api.Socials.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	name := cmp.Or(c.DisplayName, c.Username, c.ID)
	return v.show(http.StatusOK, ui.Page{Heading: "Disconnect " + name, Up: &ui.Link{Text: name, Address: channelsPage + "/" + c.ID}, Form: &ui.Form{
		Text:   "Its token is erased. What runs at the network goes on running and spending: pause it first. What was spent still counts, and connecting the same profile again brings the channel back.",
		Submit: "Disconnect channel", Danger: true, Cancel: channelsPage + "/" + c.ID, Once: newOnce(),
	}})
}

// disconnect ends the access of this server to a channel.
func (d *Dashboard) disconnect(v *visit) error {
	gone, err := d.api.Socials.Delete(v.ctx(), v.Param("id"), v.once())
	if err != nil {
		return err
	}
	text := "The channel was disconnected."
	if gone.RunningCampaignCount > 0 {
		text += " " + strconv.FormatInt(gone.RunningCampaignCount, 10) + " of its campaigns go on running at the network."
	}
	return v.done(channelsPage, person.Notice{Text: text})
}
