package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// thing is a campaign, an ad group or an ad, linked to what is above and below it.
type thing struct {
	advert.SandboxEntity
	detail
	parent   *thing // nil for a campaign
	children []*thing
}

// detail is what the sandbox keeps about a thing besides its place. Moments are Unix microseconds; 0 means none.
type detail struct {
	Name      string `json:"name"`
	Off       bool   `json:"off,omitempty"` // its own switch
	DeletedAt int64  `json:"deleted_at,omitempty"`

	Goal           advert.Goal        `json:"goal,omitempty"`
	Budget         advert.Amount      `json:"budget,omitempty"` // 0: another level has it
	BudgetType     advert.BudgetType  `json:"budget_type,omitempty"`
	StartsAt       int64              `json:"starts_at,omitempty"` // of the owner of the budget, as the end
	EndsAt         int64              `json:"ends_at,omitempty"`
	BidStrategy    advert.BidStrategy `json:"bid_strategy,omitempty"`
	BidAmount      advert.Amount      `json:"bid_amount,omitempty"`
	RoasFloor      advert.Ratio       `json:"roas_floor,omitempty"`
	Targeting      advert.Object      `json:"shown_to,omitempty"`  // in the words of all networks
	Words          advert.Object      `json:"targeting,omitempty"` // in the network's own
	PromotedObject advert.Object      `json:"promoted_object,omitempty"`
	Categories     []string           `json:"categories,omitempty"` // of an ad group, as what follows: what its targeting is held to
	Beneficiary    string             `json:"beneficiary,omitempty"`
	Payor          string             `json:"payor,omitempty"`

	Type     advert.Type     `json:"type,omitempty"` // of an ad, as what follows
	Creative advert.Creative `json:"creative,omitzero"`
	PostID   string          `json:"post_id,omitempty"`
	// CreativeToken is that of the change by which the ad got its creative.
	CreativeToken string `json:"creative_token,omitempty"`
	ReviewedAt    int64  `json:"reviewed_at,omitempty"`
	Rejection     string `json:"rejection,omitempty"` // why the review refused it, or will
}

// forest holds campaigns as the sandbox has them, and by its id everything that is in them.
type forest struct {
	campaigns []*thing
	byID      map[string]*thing
}

// plant makes a forest of stored rows. The rows must be in the order in which the things were made, so that a parent
// comes before its children.
func plant(rows []advert.SandboxEntity) (*forest, error) {
	f := &forest{byID: make(map[string]*thing, len(rows))}
	for _, row := range rows {
		t := &thing{SandboxEntity: row}
		if err := json.Unmarshal([]byte(row.Detail), &t.detail); err != nil {
			return nil, fmt.Errorf("read detail of %s: %w", row.ID, err)
		}
		f.add(t)
	}
	return f, nil
}

// add puts a thing under its parent, which must be in the forest already.
func (f *forest) add(t *thing) {
	f.byID[t.ID] = t
	switch t.Kind {
	case advert.LevelCampaign:
		f.campaigns = append(f.campaigns, t)
		return
	case advert.LevelGroup:
		t.parent = f.byID[t.CampaignID]
	case advert.LevelAd:
		t.parent = f.byID[t.AdGroupID]
	}
	t.parent.children = append(t.parent.children, t)
}

// rows returns things as they are stored, with now as the time of their change.
func rows(things []*thing, now core.Time) ([]advert.SandboxEntity, error) {
	var all []advert.SandboxEntity
	for _, t := range things {
		text, err := json.Marshal(t.detail)
		if err != nil {
			return nil, fmt.Errorf("write detail of %s: %w", t.ID, err)
		}
		t.Detail, t.UpdatedAt = string(text), now
		all = append(all, t.SandboxEntity)
	}
	return all, nil
}

// each calls fn for a thing and everything below it.
func (t *thing) each(fn func(*thing)) {
	fn(t)
	for _, child := range t.children {
		child.each(fn)
	}
}

// ads returns the thing itself if it is an ad, and otherwise the ads below it in the order in which they were made.
// Deleted ones are among them.
func (t *thing) ads() []*thing {
	var all []*thing
	t.each(func(t *thing) {
		if t.Kind == advert.LevelAd {
			all = append(all, t)
		}
	})
	slices.SortFunc(all, func(a, b *thing) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// above reports whether something holds for a thing or for anything above it.
func (t *thing) above(holds func(*thing) bool) bool {
	return holds(t) || t.parent != nil && t.parent.above(holds)
}

func (t *thing) isDeleted() bool { return t.above(func(t *thing) bool { return t.DeletedAt != 0 }) }
func (t *thing) isOff() bool     { return t.above(func(t *thing) bool { return t.Off }) }

// owner returns the campaign or ad group whose budget pays for a thing, or nil for a campaign whose ad groups have the
// budgets.
func (t *thing) owner() *thing {
	switch {
	case t.Budget > 0:
		return t
	case t.parent == nil:
		return nil
	default:
		return t.parent.owner()
	}
}

// owners returns all that have a budget among a thing and what is below it.
func (t *thing) owners() []*thing {
	var all []*thing
	t.each(func(t *thing) {
		if t.Budget > 0 {
			all = append(all, t)
		}
	})
	return all
}

// hasEnded reports whether the end of the budget that pays for a thing has passed.
func (t *thing) hasEnded(now core.Time) bool {
	owner := t.owner()
	return owner != nil && owner.EndsAt != 0 && core.Time(owner.EndsAt) <= now
}

// segment returns how the owner of a budget delivers from now on. If none of its ads can deliver, the segment has no
// ads.
func (t *thing) segment(now core.Time) advert.SandboxSegment {
	s := advert.SandboxSegment{
		CampaignID: t.CampaignID, OwnerID: t.ID, AdAccountID: t.AdAccountID, FromAt: now, Budget: t.Budget,
		Lifetime: t.BudgetType == advert.BudgetTypeLifetime, StartAt: core.Time(t.StartsAt), EndAt: moment(t.EndsAt),
	}
	for _, ad := range t.ads() {
		if !ad.isOff() && !ad.isDeleted() && ad.Rejection == "" {
			s.Ads.V = append(s.Ads.V, advert.SandboxSlot{Ad: ad.ID, FromAt: ad.ReviewedAt})
		}
	}
	return s
}

// moment returns a stored time, or nil for 0.
func moment(micros int64) *core.Time {
	if micros == 0 {
		return nil
	}
	at := core.Time(micros)
	return &at
}

// micros returns a time as it is stored, or 0 for nil.
func micros(at *core.Time) int64 {
	if at == nil {
		return 0
	}
	return int64(*at)
}

// deliveries returns the segments that begin now: one for each owner whose delivery differs from its open segment.
func deliveries(owners []*thing, open map[string]advert.SandboxSegment, now core.Time) []advert.SandboxSegment {
	var changed []advert.SandboxSegment
	for _, owner := range owners {
		before, wasOpen := open[owner.ID]
		after := owner.segment(now)
		if wasOpen && !same(before, after) || !wasOpen && len(after.Ads.V) > 0 {
			changed = append(changed, after)
		}
	}
	return changed
}

// same reports whether two segments deliver in the same way, whatever their times.
func same(a, b advert.SandboxSegment) bool {
	return a.Budget == b.Budget && a.Lifetime == b.Lifetime && a.StartAt == b.StartAt &&
		reflect.DeepEqual(a.EndAt, b.EndAt) && slices.Equal(a.Ads.V, b.Ads.V)
}

// open returns the segments without an end, by owner.
func open(segments []advert.SandboxSegment) map[string]advert.SandboxSegment {
	found := map[string]advert.SandboxSegment{}
	for _, s := range segments {
		if s.ToAt == nil {
			found[s.OwnerID] = s
		}
	}
	return found
}
