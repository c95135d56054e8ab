package pinterest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

func TestCreate_SendsTheBudgetThatWasMeant(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"USD", "JPY"} {
		for budget, micros := range map[advert.Amount]int64{20 * advert.AmountUnit: 20_000_000, 2000 * advert.AmountUnit: 2_000_000_000} {
			for _, kind := range []advert.BudgetType{advert.BudgetTypeDaily, advert.BudgetTypeLifetime} {
				w := newWorld(currency, nil)
				group, campaign := w.boost("group"), w.boost("campaign")
				campaign.BudgetLevel = advert.BudgetLevelCampaign
				for _, plan := range []*ads.Plan{&group, &campaign} {
					plan.BudgetAmount, plan.BudgetType, plan.EndsAt = budget, kind, at(noon.AddDate(0, 1, 0))
				}
				inGroup, inCampaign := w.create(t, group), w.create(t, campaign)
				assert.Equal(t, budget, inGroup.Group.BudgetAmount)
				assert.Equal(t, budget, inCampaign.Campaign.BudgetAmount)

				words := map[advert.BudgetType][2]string{advert.BudgetTypeDaily: {"DAILY", "daily_spend_cap"}, advert.BudgetTypeLifetime: {"LIFETIME", "lifetime_spend_cap"}}[kind]
				groups, campaigns := w.net.Groups(w.account), w.net.Campaigns(w.account)
				assert.Equal(t, micros, groups[0].Number("budget_in_micro_currency"))
				assert.Equal(t, words[0], groups[0].Text("budget_type"))
				assert.False(t, campaigns[0].Is("is_campaign_budget_optimization"))
				assert.Equal(t, micros, campaigns[1].Number(words[1]))
				assert.Equal(t, "CBO_ADGROUP", groups[1].Text("budget_type"))
				assert.Zero(t, groups[1].Number("budget_in_micro_currency"))
			}
		}
	}
}

func TestCreate_SendsNothingForMoneyThatCannotBeSent(t *testing.T) {
	t.Parallel()
	w := newWorld("JPY", nil)
	fraction, unknown, none, bid := w.boost("a"), w.boost("b"), w.boost("c"), w.boost("d")
	fraction.BudgetAmount += advert.AmountUnit / 2
	unknown.AdAccount.Currency = "xxx"
	none.BudgetAmount = 0
	bid.BidStrategy, bid.BidAmount = advert.BidStrategyBidCap, advert.AmountUnit/10
	for _, plan := range []ads.Plan{fraction, unknown, none, bid} {
		_, err := w.driver.Create(t.Context(), w.conn, plan)
		var refused *ads.Rejected
		require.ErrorAs(t, err, &refused, plan.Name)
		assert.Contains(t, []string{"budget_amount", "bid_amount"}, refused.Field)
	}
	assert.Empty(t, w.net.Calls())
}

func TestCreate_RefusesWhatPinterestCannotDo(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	goal, roas, promoted := w.boost("a"), w.boost("b"), w.boost("c")
	goal.Goal = advert.GoalLeadGeneration
	roas.BidStrategy, roas.RoasFloor = advert.BidStrategyMinROAS, 2*advert.RatioOne
	promoted.PromotedObject = `{"pixel_id":"1"}`
	for _, plan := range []ads.Plan{goal, roas, promoted} {
		_, err := w.driver.Create(t.Context(), w.conn, plan)
		require.ErrorIs(t, err, ads.ErrUnsupported, plan.Name)
	}
	assert.Empty(t, w.net.Calls())
}

func TestCreate_BoostsThePinThatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	made := w.create(t, w.boost("boost"))
	assert.Equal(t, w.pin, made.Ad.PlatformPostID)
	assert.Equal(t, advert.TypeBoost, made.Ad.Type)
	assert.Equal(t, "boost", made.Campaign.Name)
	assert.Len(t, w.net.Pins(secret), 1)
	assert.Equal(t, "boost · "+token("boost"), w.net.Campaigns(w.account)[0].Text("name"))

	gone := w.boost("gone")
	gone.Post = &advert.SocialPost{PlatformID: "404"}
	_, err := w.driver.Create(t.Context(), w.conn, gone)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "post_id", refused.Field)
}

func TestCreate_MakesOneBoardForItsPins(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	w.net.AddBoard(secret, "Public")
	for _, name := range []string{"first", "second"} {
		made := w.create(t, w.standalone(name))
		assert.Equal(t, advert.TypeStandalone, made.Ad.Type)
		assert.Equal(t, w.standalone(name).Creative, made.Ad.Creative.V)
	}
	assert.Equal(t, 1, count(w.net.Calls(), "boards/create"))
	assert.Len(t, w.net.Pins(secret), 3)
}

func TestCreate_CutsALongNameAndKeepsTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.boost("long")
	plan.Name = strings.Repeat("ü", 255)
	made := w.create(t, plan)
	assert.Equal(t, plan.Name, made.Campaign.Name, "the name that it has once the token is taken off")
	assert.Equal(t, 255, utf8.RuneCountInString(w.net.Ads(w.account)[0].Text("name")))
	found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, plan.Token)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, made.Ad.PlatformID, found.Ad.PlatformID)
}

func TestCreate_LeavesNothingBehindWhenItIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	late := w.standalone("late") // the campaign is taken, and the ad group refused
	late.BidStrategy = advert.BidStrategyBidCap
	_, err := w.driver.Create(t.Context(), w.conn, late)
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, ads.Rejected{Message: "MAX_BID needs bid_in_micro_currency.", Raw: "200/1"}, *refused)
	assert.Zero(t, w.running())
	assert.Len(t, w.net.Pins(secret), 1, "the Pin that was made for it is deleted")

	_, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, late.Token)
	require.NoError(t, err)
	assert.False(t, ok)
}

// hurried notes how much time the requests have that remove something.
type hurried struct {
	next http.RoundTripper
	left map[string]time.Duration // by method
}

func (h hurried) RoundTrip(r *http.Request) (*http.Response, error) {
	if end, ok := r.Context().Deadline(); ok {
		h.left[r.Method] = time.Until(end)
	}
	return h.next.RoundTrip(r)
}

func TestCreate_DoesNotCleanUpForLongerThanItsActionIsLeased(t *testing.T) {
	t.Parallel()
	left := map[string]time.Duration{}
	w := newWorld("USD", nil)
	driver := pinterest.New(pinterest.Config{Client: &http.Client{Transport: hurried{w.net, left}}, Request: time.Hour})
	late := w.standalone("late")
	late.BidStrategy = advert.BidStrategyBidCap
	_, err := driver.Create(t.Context(), w.conn, late)
	require.Error(t, err)
	for _, method := range []string{http.MethodPatch, http.MethodDelete} { // the campaign, and the Pin
		require.Contains(t, left, method)
		assert.LessOrEqual(t, left[method], ads.UndoTime, method)
	}
}

func TestCreate_SaysSoWhenItCannotCleanUp(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	late := w.boost("late")
	late.BidStrategy = advert.BidStrategyBidCap
	for range 3 {
		w.net.Break("campaigns/update", 0, pinterestfake.FaultUnavailable)
	}
	_, err := w.driver.Create(t.Context(), w.conn, late)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	assert.Equal(t, 1, w.running())

	_, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, late.Token)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Zero(t, w.running(), "Find makes up for it")
}

// unknowns are the faults after which nobody knows what became of a write, and whether it took place.
var unknowns = map[pinterestfake.Fault]bool{
	pinterestfake.FaultUnavailable: false, pinterestfake.FaultHang: false, pinterestfake.FaultDrop: false,
	pinterestfake.FaultUnavailableAfter: true, pinterestfake.FaultHangAfter: true, pinterestfake.FaultDropAfter: true,
	pinterestfake.FaultGarbageAfter: true,
}

func TestCreate_OfUnknownOutcomeIsSettledByFind(t *testing.T) {
	t.Parallel()
	for fault, happened := range unknowns {
		for _, step := range []string{"pins/create", "campaigns/create", "ad_groups/create", "ads/create"} {
			t.Run(fmt.Sprint(step, " ", fault), func(t *testing.T) {
				t.Parallel()
				w := newWorld("USD", nil)
				w.net.Break(step, 0, fault)
				plan := w.standalone("unknown")
				_, err := w.driver.Create(t.Context(), w.conn, plan)
				require.ErrorIs(t, err, ads.ErrIndeterminate)
				assert.Equal(t, 1, count(w.net.Calls(), step), "it is not repeated")
				w.settle(t, plan, happened && step == "ads/create")
			})
		}
	}
}

// settle finds out what became of a plan, which is whole or not, and makes it if it is not.
func (w *world) settle(t *testing.T, plan ads.Plan, whole bool) {
	found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, plan.Token)
	require.NoError(t, err)
	assert.Equal(t, whole, ok)
	if !ok {
		assert.Zero(t, w.running(), "what was begun is archived")
		found = w.create(t, plan)
	}
	assert.Equal(t, 1, w.running(), "there is one in the end")
	assert.Equal(t, plan.Name, found.Campaign.Name)
	assert.Equal(t, plan.BudgetAmount, found.Group.BudgetAmount)
	assert.Equal(t, found.Group.PlatformID, found.Ad.AdGroupID)
}

func TestFind_FindsAnAdThatJoinedAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	home := w.create(t, w.boost("home"))
	plan := w.boost("guest")
	plan.AdGroupID, plan.CampaignID = home.Group.PlatformID, home.Campaign.PlatformID
	w.net.Break("ads/create", 0, pinterestfake.FaultHangAfter)
	_, err := w.driver.Create(t.Context(), w.conn, plan)
	require.ErrorIs(t, err, ads.ErrIndeterminate)
	found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, plan.Token)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Nil(t, found.Campaign)
	assert.Equal(t, home.Group.PlatformID, found.Ad.AdGroupID)
	assert.Equal(t, 1, w.running(), "the campaign is left alone")
}

func TestFind_NeverArchivesACampaignWithAnAd(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	plan := w.boost("renamed")
	made := w.create(t, plan)
	w.net.Rename(w.account, made.Ad.PlatformID, "Somebody's own name")
	w.net.Rename(w.account, made.Group.PlatformID, "Somebody's own name")
	found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, plan.Token)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, made.Ad.PlatformID, found.Ad.PlatformID)
	assert.Equal(t, 1, w.running())
}

func TestFind_LooksNoFurtherThanTheTokenIsOld(t *testing.T) {
	t.Parallel()
	now := noon
	w := newWorldAt(func() time.Time { return now }, "USD", nil)
	minted := ulid.ULID{}
	require.NoError(t, minted.SetTime(ulid.Timestamp(noon)))
	token := "adact_" + strings.ToLower(minted.String())
	now = noon.AddDate(0, 0, -2)
	w.campaigns(t, 3)
	w.net.LimitPages(1)
	_, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, token)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, []string{"campaigns/list", "ads/list", "audiences/list"}, w.net.Calls())

	now = noon.Add(-23 * time.Hour) // the network's clock is slow
	plan := w.boost("slow")
	plan.Token = token
	w.create(t, plan)
	now = noon
	w.campaigns(t, 3)
	_, ok, err = w.driver.Find(t.Context(), w.conn, w.account.ID, token)
	require.NoError(t, err)
	assert.True(t, ok)
}

func TestSync_TellsWhereAnAdLeads(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	ours, theirs := w.create(t, w.standalone("ours")), w.create(t, w.standalone("theirs"))
	w.net.Rename(w.account, theirs.Ad.PlatformID, "somebody's")
	whole, err := w.walk(t.Context())
	require.NoError(t, err)
	assert.Equal(t, ours.Ad.PlatformID, whole.Ads[0].PlatformID)
	assert.Equal(t, advert.Creative{CallToAction: "SHOP_NOW", LinkURL: "https://shop.example/mug"}, whole.Ads[0].Creative.V)
	assert.Equal(t, advert.Creative{CallToAction: "SHOP_NOW", LinkURL: "https://shop.example/mug"}, whole.Ads[1].Creative.V)
}

func TestFind_IsNoProofWhileTheListsCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"campaigns/list", "ads/list", "audiences/list"} {
		w := newWorld("USD", nil)
		for range 3 {
			w.net.Break(list, 0, pinterestfake.FaultUnavailable)
		}
		_, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, token("any"))
		require.ErrorIs(t, err, ads.ErrUnavailable)
		assert.False(t, ok)
	}
}

func count(calls []string, operation string) int {
	return len(slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return c != operation }))
}
