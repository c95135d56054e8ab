package sandbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// What a channel finds when it is connected follows from the account and the channel alone. Ad accounts and posts are
// never stored, and campaigns only because people change them.

// anchor returns the moment before which everything happened that a channel finds when it is connected. It is when the
// channel's id was made, but never later than now.
func anchor(channel string, now core.Time) core.Time {
	_, random, _ := strings.Cut(channel, "_")
	id, err := ulid.ParseStrict(strings.ToUpper(random))
	if err != nil {
		return min(now, core.TimeOf(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)))
	}
	return min(now, core.TimeOf(ulid.Time(id.Time())))
}

// currency is a currency that ads are paid in, and the time zone of its ad accounts.
type currency struct {
	code, zone, country string
	quantum             int64 // micros of a cent, a yen
	dollar              int64 // micros that are worth a dollar, about
	round               advert.Amount
}

// currencies are those of the ad accounts. They are never changed.
var currencies = []currency{
	{"usd", "America/New_York", "US", 10_000, 1_000_000, advert.AmountUnit},
	{"eur", "Europe/Berlin", "DE", 10_000, 900_000, advert.AmountUnit},
	{"jpy", "Asia/Tokyo", "JP", 1_000_000, 150_000_000, 100 * advert.AmountUnit},
}

// sandboxPublisher is who profits from the ads of an ad account in the EU, and pays for them.
const sandboxPublisher = "Sandbox Publishing"

// currencyOf returns the entry of currencies for a code. It panics if there is none.
func currencyOf(code string) currency {
	for _, known := range currencies {
		if known.code == code {
			return known
		}
	}
	panic("sandbox: no ad account has the currency " + code)
}

// marketOf returns the market in which the ads of an ad account are delivered. Its days are those that the network counts.
func (d *Driver) marketOf(a *advert.Account) market {
	known := currencyOf(a.Currency)
	if d.Caps().Figures.UTC {
		known.zone = "UTC"
	}
	zone, err := time.LoadLocation(known.zone)
	if err != nil {
		panic(err) // the program carries the time zones
	}
	return market{zone, known.quantum, known.dollar}
}

// accounts returns the ad accounts behind a channel: one in dollars, one in another currency, and one in the third that is
// disabled.
func (d *Driver) accounts(c ads.Conn) []advert.Account {
	second := 1 + int(hash(c.Account+c.Channel, 1)%2)
	order := []currency{currencies[0], currencies[second], currencies[3-second]}
	all := make([]advert.Account, len(order))
	for i, known := range order {
		a := advert.Account{
			PlatformID: d.id(c, kindAccount, int64(i)),
			Name:       fmt.Sprintf("Sandbox %s", strings.ToUpper(known.code)), Currency: known.code, Timezone: known.zone,
			Status: advert.AccountActive, PlatformStatus: accountWord(d.platform, true), MinimumDailyBudget: d.Caps().MinimumDailyBudget,
		}
		if a.Country = known.country; a.Country == "DE" && d.Caps().Targeting.DSA {
			a.DefaultBeneficiary, a.DefaultPayor = sandboxPublisher, sandboxPublisher
		}
		if i == 2 {
			a.Status, a.PlatformStatus = advert.AccountDisabled, accountWord(d.platform, false)
			a.UnusableReason = "The network has disabled this ad account."
		}
		if d.Caps().BusinessCenters {
			a.BusinessCenterID = d.id(c, kindBusinessCenter, 0)
		}
		all[i] = a
	}
	return all
}

// accountWord returns the network's word for the state of an ad account.
func accountWord(p advert.Platform, active bool) string {
	switch {
	case p == advert.PlatformFacebook || p == advert.PlatformInstagram:
		return map[bool]string{true: "1", false: "2"}[active]
	case p == advert.PlatformTikTok:
		return map[bool]string{true: "STATUS_ENABLE", false: "STATUS_DISABLE"}[active]
	case p == advert.PlatformGoogle:
		return map[bool]string{true: "ENABLED", false: "SUSPENDED"}[active]
	}
	return map[bool]string{true: "ACTIVE", false: "DISABLED"}[active]
}

// id returns the n-th platform id of a kind behind a channel.
func (d *Driver) id(c ads.Conn, k kind, n int64) string {
	return platformID(d.platform, c.Account, c.Channel, k, n)
}

// centers returns two business centers. One of them does not tell how many advertisers it has.
func (d *Driver) centers(c ads.Conn) []advert.BusinessCenter {
	count := int64(len(d.accounts(c)))
	return []advert.BusinessCenter{
		{PlatformID: d.id(c, kindBusinessCenter, 0), Name: "Sandbox Agency", AdvertiserCount: &count},
		{PlatformID: d.id(c, kindBusinessCenter, 1), Name: "Sandbox Partners"},
	}
}

// posts returns three posts that can be boosted and a draft.
//
// The newest shows a video, the others a picture.
func (d *Driver) posts(c ads.Conn) []advert.SocialPost {
	texts := []string{"The new course is out.", "Behind the scenes of the studio.", "Last days of the summer sale!", "Not finished yet."}
	begin := anchor(c.Channel, core.TimeOf(c.Now()))
	all := make([]advert.SocialPost, len(texts))
	for i, text := range texts {
		id, published := d.id(c, kindPost, int64(i)), begin.Add(-time.Duration(1+3*i)*24*time.Hour)
		all[i] = advert.SocialPost{
			PlatformID: id, Status: advert.SocialPostPublished, Text: text,
			LinkURL: "https://" + string(d.platform) + ".example/posts/" + id, PublishedAt: &published,
			MediaURL: "https://" + string(d.platform) + ".example/media/" + id + ".jpg",
		}
	}
	all[0].MediaURL = strings.TrimSuffix(all[0].MediaURL, ".jpg") + filmEnd
	draft := &all[len(all)-1]
	draft.Status, draft.LinkURL, draft.PublishedAt = advert.SocialPostDraft, "", nil
	return all
}

// story makes up what happened in the ad manager before a channel was connected.
type story struct {
	driver   *Driver
	conn     ads.Conn
	account  *advert.Account
	begin    core.Time // the end of the story
	now      core.Time
	seq      int64
	forest   *forest
	things   []*thing
	segments []advert.SandboxSegment
}

// seed returns the campaigns that every ad account has from the beginning, which somebody else has made.
func (d *Driver) seed(c ads.Conn, now core.Time) advert.SandboxChange {
	s := story{driver: d, conn: c, begin: anchor(c.Channel, now), forest: &forest{byID: map[string]*thing{}}}
	for _, account := range d.accounts(c) {
		s.account = &account
		s.running()
		s.paused()
		s.completed()
	}
	entities, err := rows(s.things, s.begin)
	if err != nil {
		panic(err) // what is seeded has a text
	}
	return advert.SandboxChange{Entities: entities, Segments: s.segments}
}

// running makes up a campaign whose ad groups have budgets of their own. One of its ads was rejected, one was paused
// later.
func (s *story) running() {
	s.day(-30)
	campaign := s.add(nil, detail{Name: "Always on", Goal: advert.GoalTraffic})
	first := s.group(campaign, "Visitors", s.amount(30))
	s.ad(first, "Carousel", "")
	s.ad(first, "Miracle cure", "The ad promises what it cannot keep.")
	second := s.group(campaign, "Newcomers", s.amount(50))
	s.ad(second, "Short clip", "")
	still := s.ad(second, "Still", "")
	s.deliver(campaign)
	s.day(-15)
	second.Budget = s.amount(40)
	s.deliver(campaign)
	s.day(-10)
	still.Off = true
	s.deliver(campaign)
	if s.account.Status != advert.AccountActive {
		s.day(-3)
		campaign.Off = true
		s.deliver(campaign)
	}
}

// paused makes up a campaign with a budget of its own that somebody has paused.
func (s *story) paused() {
	s.day(-20)
	campaign := s.add(nil, detail{Name: "Brand", Goal: advert.GoalAwareness, Budget: s.amount(60), BudgetType: advert.BudgetTypeDaily})
	s.fill(campaign)
	s.deliver(campaign)
	s.day(-6)
	campaign.Off = true
	s.deliver(campaign)
}

// completed makes up a campaign with a lifetime budget that has run to its end.
func (s *story) completed() {
	s.day(-21)
	campaign := s.add(nil, detail{
		Name: "Launch week", Goal: advert.GoalVideoViews, Budget: s.amount(350), BudgetType: advert.BudgetTypeLifetime,
		StartsAt: int64(s.now), EndsAt: int64(s.now.Add(7 * 24 * time.Hour)),
	})
	s.fill(campaign)
	s.deliver(campaign)
}

// fill gives a campaign two ad groups with two ads each.
func (s *story) fill(campaign *thing) {
	for _, name := range []string{"Visitors", "Newcomers"} {
		group := s.group(campaign, name, 0)
		s.ad(group, "Short clip", "")
		s.ad(group, "Still", "")
	}
}

// day moves the story to a day: n is negative and counts from the end of the story.
func (s *story) day(n int) { s.now = s.begin.Add(time.Duration(n) * 24 * time.Hour) }

// amount returns roughly so many dollars in the ad account's currency, as a round number.
func (s *story) amount(dollars advert.Amount) advert.Amount {
	return dollars * currencyOf(s.account.Currency).round
}

func (s *story) group(campaign *thing, name string, budget advert.Amount) *thing {
	d := detail{Name: name, Goal: campaign.Goal, Budget: budget}
	if budget > 0 {
		d.BudgetType = advert.BudgetTypeDaily
	}
	return s.add(campaign, d)
}

func (s *story) ad(group *thing, name, rejection string) *thing {
	return s.add(group, detail{
		Name: name, Goal: group.Goal, Type: advert.TypeStandalone, ReviewedAt: int64(s.now), Rejection: rejection,
		Creative: advert.Creative{Headline: name, Body: "Made in the ad manager.", CallToAction: "LEARN_MORE", LinkURL: "https://shop.example"},
	})
}

// add makes a thing below another one.
func (s *story) add(parent *thing, d detail) *thing {
	s.seq++
	t := s.driver.make(s.conn, parent, s.account.PlatformID, s.seq, s.now)
	t.detail = d
	s.forest.add(t)
	s.things = append(s.things, t)
	return t
}

// deliver stores what has changed about the delivery of a campaign: it ends open segments and begins new ones.
func (s *story) deliver(campaign *thing) {
	changed := deliveries(campaign.owners(), open(s.segments), s.now)
	for i := range s.segments {
		for _, next := range changed {
			if s.segments[i].OwnerID == next.OwnerID && s.segments[i].ToAt == nil {
				ended := s.now
				s.segments[i].ToAt = &ended
			}
		}
	}
	s.segments = append(s.segments, changed...)
}

// make returns a new thing below a parent, nil for a campaign.
func (d *Driver) make(c ads.Conn, parent *thing, adAccount string, seq int64, now core.Time) *thing {
	t := &thing{SandboxEntity: advert.SandboxEntity{AccountID: c.Account, ChannelID: c.Channel, AdAccountID: adAccount, Seq: seq, CreatedAt: now, UpdatedAt: now}}
	switch {
	case parent == nil:
		t.Kind = advert.LevelCampaign
	case parent.parent == nil:
		t.Kind = advert.LevelGroup
	default:
		t.Kind = advert.LevelAd
	}
	t.ID = d.id(c, kind(t.Kind), seq)
	switch t.Kind {
	case advert.LevelCampaign:
		t.CampaignID = t.ID
	case advert.LevelGroup:
		t.CampaignID, t.AdGroupID = parent.ID, t.ID
	default:
		t.CampaignID, t.AdGroupID = parent.CampaignID, parent.ID
	}
	return t
}
