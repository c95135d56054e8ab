package sandbox

import (
	"github.com/tillwright/tillwright/store/advert"
)

// figures is what an ad achieved in some days. Each day's figures follow only from what the ad spent on that day, so
// they can be added up, and grow as it spends.
type figures struct {
	rates
	before sums // of the days before the last one
	day    int
	spent  int64 // micros, on the last day
}

// sums are figures that can be added up. Conversions are in thousandths, spend and value in micros.
type sums struct{ spend, impressions, clicks, engagement, views, conversions, value int64 }

func (s *sums) add(other sums) {
	s.spend += other.spend
	s.impressions += other.impressions
	s.clicks += other.clicks
	s.engagement += other.engagement
	s.views += other.views
	s.conversions += other.conversions
	s.value += other.value
}

// rates say what an ad achieves for its money. Rates without a unit are parts of 100,000.
type rates struct {
	quantum     int64
	cpm         int64 // micros of a thousand impressions
	clicks      int64 // part of impressions
	engagements int64 // part of impressions, besides clicks
	views       int64 // part of impressions
	conversions int64 // part of clicks
	value       int64 // micros that a conversion sells for
	action      string
}

const parts = 100_000

// ratesOf returns the rates of an ad in a market. They depend on its network and its goal, and vary a little by its id.
func (m market) ratesOf(p advert.Platform, goal advert.Goal, ad string) rates {
	r := rates{quantum: m.quantum, cpm: cpmOf(p), clicks: 900, engagements: 1_200, views: 4_000, conversions: 2_000, value: 45, action: "purchase"}
	switch goal {
	case advert.GoalTraffic:
		r.clicks = 1_800
	case advert.GoalEngagement:
		r.engagements = 6_000
	case advert.GoalAwareness:
		r.cpm, r.clicks = r.cpm/2, 300
	case advert.GoalVideoViews:
		r.views = 35_000
	case advert.GoalLeadGeneration, advert.GoalLeadConversion, advert.GoalJobApplicants:
		r.conversions, r.value, r.action = 9_000, 0, "lead"
	case advert.GoalConversions, advert.GoalCatalogSales:
		r.conversions = 6_000
	case advert.GoalAppPromotion:
		r.conversions, r.value, r.action = 12_000, 0, "app_install"
	}
	r.cpm = r.cpm * m.dollar / int64(advert.AmountUnit) * chance(ad, 1) / 100
	r.clicks = r.clicks * chance(ad, 2) / 100
	r.value *= m.dollar
	return r
}

// chance returns 80 to 120 percent, always the same for the same ad and n.
func chance(ad string, n int) int64 { return 80 + int64(hash(ad, n)%41) }

// cpmOf returns what a thousand impressions cost at a network, in micros of a dollar.
func cpmOf(p advert.Platform) int64 {
	switch p {
	case advert.PlatformFacebook:
		return 9_000_000
	case advert.PlatformInstagram:
		return 8_000_000
	case advert.PlatformTikTok:
		return 6_000_000
	case advert.PlatformLinkedIn:
		return 33_000_000
	case advert.PlatformPinterest:
		return 5_000_000
	default:
		return 7_000_000
	}
}

// of returns what an ad achieves for an amount spent on one day.
func (r rates) of(micros int64) sums {
	impressions := micros * 1000 / r.cpm
	clicks := impressions * r.clicks / parts
	conversions := clicks * 1000 * r.conversions / parts
	value := conversions * r.value / 1000
	return sums{
		spend: micros, impressions: impressions, clicks: clicks, engagement: clicks + impressions*r.engagements/parts,
		views: impressions * r.views / parts, conversions: conversions, value: value - value%r.quantum,
	}
}

// add counts what the ad spent in a part of a day. The days must come in their order.
func (f *figures) add(s spending) {
	if s.day != f.day {
		f.before.add(f.of(f.spent))
		f.day, f.spent = s.day, 0
	}
	f.spent += s.micros
}

// metrics returns the figures of all days together.
func (f *figures) metrics() advert.Metrics {
	all := f.before
	all.add(f.of(f.spent))
	return advert.Metrics{
		Spend: new(advert.Amount(all.spend)), Impressions: &all.impressions, Reach: reach(all.impressions), Clicks: &all.clicks,
		Engagement: &all.engagement, Conversions: &all.conversions, PurchaseValue: new(advert.Amount(all.value)), VideoViews: &all.views,
		Actions: actions(map[string]int64{"link_click": all.clicks * 1000, "video_view": all.views * 1000, f.action: all.conversions}),
	}
}

// actions removes the actions that nobody has done.
func actions(all map[string]int64) map[string]int64 {
	for name, count := range all {
		if count == 0 {
			delete(all, name)
		}
	}
	return all
}

// population is how many people a network can show ads to.
const population = 400_000

// reach returns how many people saw a number of impressions: the more there are, the fewer of them are the first for
// somebody. Two ads together never reach more people than the sum of both.
func reach(impressions int64) *int64 {
	people := (impressions*population + impressions + population - 1) / (impressions + population)
	return &people
}
