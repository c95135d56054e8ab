package meta_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// parts use all of the driver in every way in which it speaks to the network, each in a world of its own. They return the
// first thing that is not as it should be.
var parts = []func(*testing.T, *world) error{reading, creating, joining, bidding, steering, reporting, gathering, finding, searching, telling, previewing, asking}

func expect(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func reading(t *testing.T, w *world) error {
	accounts, err := w.net.AdAccounts(t.Context(), w.conn)
	if err != nil {
		return err
	}
	if err := expect(len(accounts) == 4 && accounts[3].MinimumDailyBudget > 0, "accounts %v", accounts); err != nil {
		return err
	}
	posts, err := w.net.Posts(t.Context(), w.conn)
	if err != nil {
		return err
	}
	return expect(len(posts) == 1 && posts[0].Text != "" && posts[0].PublishedAt != nil, "posts %v", posts)
}

// creating makes an ad of each goal, in each way to pay for it, and of a post.
func creating(t *testing.T, w *world) error {
	plans := []ads.Plan{
		plan(func(p *ads.Plan) { p.StartsAt, p.EndsAt = at(1), at(8) }),
		plan(func(p *ads.Plan) {
			p.BudgetLevel, p.BidStrategy = advert.BudgetLevelCampaign, advert.BidStrategyLowestCost
		}),
		plan(func(p *ads.Plan) { p.BudgetType, p.EndsAt = advert.BudgetTypeLifetime, at(8) }),
		plan(func(p *ads.Plan) {
			p.BudgetLevel, p.BudgetType, p.EndsAt = advert.BudgetLevelCampaign, advert.BudgetTypeLifetime, at(8)
		}),
		plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalLeadGeneration, `{"lead_gen_form_id":"1"}` }),
		plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalConversions, `{"pixel_id":"1"}` }),
		plan(func(p *ads.Plan) {
			p.Goal, p.PromotedObject = advert.GoalAppPromotion, `{"application_id":"1","object_store_url":"https://apps.example/1"}`
			p.BudgetAmount = 90 * advert.AmountUnit
		}),
		plan(func(p *ads.Plan) {
			p.Goal, p.PromotedObject = advert.GoalCatalogSales, `{"product_set_id":"1","product_catalog_id":"2"}`
		}),
		plan(func(p *ads.Plan) { p.Goal = advert.GoalAwareness }),
		plan(func(p *ads.Plan) { p.Goal, p.Post = advert.GoalEngagement, postOf(w.conn.Platform) }),
	}
	for i, p := range plans {
		p.Token = fmt.Sprint("adact_", i)
		if _, err := w.net.Create(t.Context(), w.conn, p); err != nil {
			return err
		}
	}
	return expect(len(w.fake.Live("Ad")) == len(plans), "ads")
}

// joining adds an ad to a group, and has one that is refused cleaned up.
func joining(t *testing.T, w *world) error {
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	before := len(w.fake.Live("Campaign"))
	if _, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.CampaignID, p.AdGroupID = made.Campaign.PlatformID, made.Group.PlatformID })); err != nil {
		return err
	}
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: "ads"})
	_, err = w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.Token = "adact_refused" }))
	w.fake.Heal()
	return expect(err != nil && len(w.fake.Live("Campaign")) == before, "after a refusal")
}

// bidding uses each strategy on both levels and changes it.
func bidding(t *testing.T, w *world) error {
	for _, level := range []advert.BudgetLevel{advert.BudgetLevelCampaign, advert.BudgetLevelGroup} {
		for _, strategy := range []advert.BidStrategy{advert.BidStrategyCostCap, advert.BidStrategyMinROAS} {
			p := plan(func(p *ads.Plan) { p.BudgetLevel, p.BidStrategy, p.BidAmount = level, strategy, 2*advert.AmountUnit })
			change := ads.Patch{Currency: "usd", BidStrategy: &p.BidStrategy, BidAmount: &p.BidAmount, EndsAt: at(9), Budget: &ads.Budget{Amount: 30 * advert.AmountUnit, Type: advert.BudgetTypeDaily}}
			if strategy == advert.BidStrategyMinROAS {
				valued(&p)
				change.BidAmount, change.RoasFloor = nil, &p.RoasFloor
			}
			if err := bid(t, w, p, change); err != nil {
				return err
			}
		}
	}
	return nil
}

func bid(t *testing.T, w *world, p ads.Plan, change ads.Patch) error {
	made, err := w.net.Create(t.Context(), w.conn, p)
	if err != nil {
		return err
	}
	target := groupRef(made)
	if p.BudgetLevel == advert.BudgetLevelCampaign {
		target = ref(made)
	}
	e, err := w.net.Update(t.Context(), w.conn, target, change)
	if err != nil {
		return err
	}
	b := e.Batch()
	for _, c := range b.Campaigns {
		err = expect(c.BudgetAmount == 30*advert.AmountUnit && c.BidStrategy == p.BidStrategy, "campaign %v", c)
	}
	for _, g := range b.Groups {
		err = expect(g.BudgetAmount == 30*advert.AmountUnit && g.EndsAt != nil && g.BidAmount == p.BidAmount && g.RoasFloor == p.RoasFloor, "group %v", g)
	}
	return err
}

// steering turns switches on each level and deletes.
func steering(t *testing.T, w *world) error {
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	for level, id := range map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		refs := []ads.Ref{{AdAccount: dollars, Level: level, ID: id}}
		for _, to := range []advert.Configured{advert.ConfiguredPaused, advert.ConfiguredActive} {
			results, err := w.net.SetStatus(t.Context(), w.conn, refs, to)
			if err != nil {
				return err
			}
			if err := expect(results[0].Err == nil && results[0].Updated == 1 && len(results[0].State.Ads) == 1, "switch of %s: %v", level, results[0].Err); err != nil {
				return err
			}
		}
	}
	deleted, err := w.net.Delete(t.Context(), w.conn, ref(made))
	if err != nil {
		return err
	}
	return expect(deleted == ads.Deleted{AdGroups: 1, Ads: 1}, "deleted %v", deleted)
}

// reporting walks through a few pages and asks for the figures of each level.
func reporting(t *testing.T, w *world) error {
	for i := range 105 { // campaigns alone, to make a second page cheaply
		w.fake.AddExternal("Campaign", map[string]any{"account_id": dollars[len("act_"):], "name": fmt.Sprint(i), "objective": "REACH", "status": "PAUSED"})
	}
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	w.deliver(made.Ad.PlatformID)
	seen := 0
	for cursor, rounds := "", 0; rounds == 0 || cursor != ""; rounds++ {
		var b advert.Batch
		if b, cursor, err = w.net.Sync(t.Context(), w.conn, dollars, cursor); err != nil {
			return err
		}
		seen += len(b.Campaigns)
	}
	if err := expect(seen == len(w.fake.Live("Campaign")), "%d campaigns", seen); err != nil {
		return err
	}
	for level, id := range map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		reports, err := w.net.Report(t.Context(), w.conn, dollars, level, []string{id}, date(11, 1), date(11, 2))
		if err != nil {
			return err
		}
		if err := expect(*reports[id].Metrics.Spend == 15_050_000 && reports[id].Status == advert.StatusActive, "report of %s", level); err != nil {
			return err
		}
	}
	return nil
}

// gathering makes audiences and fills one.
func gathering(t *testing.T, w *world) error {
	source := ""
	for _, kind := range []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting, advert.AudienceTypeLookalike} {
		a, err := w.net.CreateAudience(t.Context(), w.conn, audiencePlan(kind, source))
		if err != nil {
			return err
		}
		if source == "" {
			source = *a.PlatformID
			if _, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: manyMembers()}); err != nil {
				return err
			}
		}
		if _, err := w.net.Audience(t.Context(), w.conn, dollars, *a.PlatformID); err != nil {
			return err
		}
	}
	if err := expect(w.fake.Members(source) == 121, "members"); err != nil {
		return err
	}
	return w.net.DeleteAudience(t.Context(), w.conn, dollars, source)
}

// manyMembers are as many people as a lookalike needs, one of them known by a phone number, too.
func manyMembers() []advert.Member {
	members := []advert.Member{member(advert.IdentifierPhone, 0)}
	for i := range 120 {
		members = append(members, member(advert.IdentifierEmail, i))
	}
	return members
}

// asking makes what the driver asks about first: what a post shows, what was spent, and who an ad set is for by law.
func asking(t *testing.T, w *world) error {
	w.fake.Film(postOf(w.conn.Platform).PlatformID)
	made, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) {
		p.Goal, p.Post, p.Creative, p.BudgetType, p.EndsAt = advert.GoalVideoViews, postOf(w.conn.Platform), advert.Creative{}, advert.BudgetTypeLifetime, at(20)
		p.DSABeneficiary, p.DSAPayor = "Ada", "Grace"
	}))
	if err != nil {
		return err
	}
	ref := ads.Ref{AdAccount: dollars, Level: advert.LevelGroup, ID: made.Group.PlatformID}
	w.fake.Set(ref.ID, "budget_remaining", "1000")
	less := ads.Patch{Currency: "usd", Budget: &ads.Budget{Amount: 11 * advert.AmountUnit, Type: advert.BudgetTypeLifetime}}
	if _, err := w.net.Update(t.Context(), w.conn, ref, less); err != nil {
		return err
	}
	w.fake.Set(ref.ID, "budget_remaining", "100")
	less.Budget.Amount -= advert.AmountUnit / 100
	_, err = w.net.Update(t.Context(), w.conn, ref, less)
	if err := expect(errors.As(err, new(*ads.Rejected)), "less than was spent: %v", err); err != nil {
		return err
	}
	europe := ads.Patch{Currency: "usd", Targeting: &ads.Targeting{Places: ads.Places{Countries: []string{"DE"}}},
		PlatformTargeting: `{"geo_locations":{"countries":["DE"]},"targeting_automation":{"advantage_audience":0}}`}
	if _, err := w.net.Update(t.Context(), w.conn, ref, europe); err != nil {
		return err
	}
	nobody, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	w.fake.Set(dollars, "default_dsa_beneficiary", "Ada")
	w.fake.Set(dollars, "default_dsa_payor", "Grace")
	ref.ID = nobody.Group.PlatformID
	_, err = w.net.Update(t.Context(), w.conn, ref, europe)
	return err
}

func finding(t *testing.T, w *world) error {
	p := plan(func(p *ads.Plan) { p.Token = "adact_lost" })
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultCutAfter, Method: "POST", Edge: "ads"})
	_, err := w.net.Create(t.Context(), w.conn, p)
	w.fake.Heal()
	if err := expect(err != nil, "the connection was cut"); err != nil {
		return err
	}
	made, found, err := w.net.Find(t.Context(), w.conn, dollars, p.Token)
	if err != nil {
		return err
	}
	return expect(found && made.Campaign != nil && made.Group != nil && made.Ad != nil, "found %v", found)
}

// searching looks for something of each type.
func searching(t *testing.T, w *world) error {
	for _, q := range []ads.Search{
		{Type: ads.SearchCountry}, {Type: ads.SearchRegion, Text: "al", Country: "CA"}, {Type: ads.SearchInterest, Text: "mov"},
		{Type: ads.SearchBehavior, Text: "eng"}, {Type: ads.SearchLanguage},
	} {
		found, err := w.net.SearchTargeting(t.Context(), w.conn, q)
		if err != nil {
			return err
		}
		wanted := map[string]int{ads.SearchCountry: 10, ads.SearchLanguage: 9}
		if err := expect(len(found) == max(wanted[q.Type], 1) && found[0].ID != "", "%s: %v", q.Type, found); err != nil {
			return err
		}
	}
	w.fake.SetReach(1, 2)
	reached, err := w.reach(t, ads.Targeting{Places: ads.Places{Countries: []string{"US"}}, Expand: true})
	if err != nil {
		return err
	}
	return expect(*reached.Lower == 1 && *reached.Upper == 2, "reached %v", reached)
}

// telling tells a pixel of what it finds, with all that can be known of it.
func telling(t *testing.T, w *world) error {
	pixels, err := w.net.Pixels(t.Context(), w.conn, dollars)
	if err != nil {
		return err
	}
	if err := expect(len(pixels) == 1 && pixels[0] == ads.Pixel{ID: pixelID, Name: "Shop"}, "pixels %v", pixels); err != nil {
		return err
	}
	lead := sale("lead", func(e *advert.ConversionEvent) {
		e.Kind, e.Offsite, e.Value, e.Currency, e.Items = advert.ConversionLead, true, 0, "", nil
	})
	results, err := w.tell(t, sale("order_1", nil), lead)
	if err == nil {
		err = errors.Join(results...)
	}
	if err != nil {
		return err
	}
	return expect(len(w.fake.Events(pixelID)) == 2, "events %v", w.fake.Events(pixelID))
}

// previewing shows an ad before and after it is made.
func previewing(t *testing.T, w *world) error {
	carousel := plan(func(p *ads.Plan) { p.Creative.ImageURL, p.Creative.Cards = "", cards() })
	for _, p := range []ads.Plan{plan(nil), carousel} {
		shown, err := w.net.Preview(t.Context(), w.conn, ads.PreviewQuery{Plan: p})
		if err != nil {
			return err
		}
		if err := expect(strings.HasPrefix(shown.URL, "https://www.facebook.com/ads/api/preview_iframe.php?d=AQ"), "preview %s", shown.URL); err != nil {
			return err
		}
	}
	if err := expect(len(w.fake.Live("AdCreative"))+len(w.fake.Live("Ad")) == 0, "a preview made something"); err != nil {
		return err
	}
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	shown, err := w.net.Preview(t.Context(), w.conn, ads.PreviewQuery{Ad: &ads.Ref{AdAccount: dollars, Level: advert.LevelAd, ID: made.Ad.PlatformID}})
	if err != nil {
		return err
	}
	return expect(strings.Contains(shown.URL, "AQ"+made.Ad.PlatformID+"&t="), "preview %s", shown.URL)
}
