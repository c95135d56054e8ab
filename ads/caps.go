package ads

import (
	"maps"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

// Caps says what a network can do and in which form it takes requests. All validation reads it, so two networks differ
// only here and in their drivers. It is a constant: nobody may change what a field points to.
type Caps struct {
	Platform  advert.Platform
	Verified  Verified
	Reconcile Reconcile
	RepeatFor time.Duration // with ReconcileRepeat

	Objectives    []Objective // one for each goal that the network knows
	CallsToAction []string
	AudienceTypes []advert.AudienceType
	SearchTypes   []string                 // what a targeting can name by an id of the network
	Bids          []BidRule                // empty: the network takes no bid strategy
	DefaultBid    advert.BidStrategy       // sent if the caller names none; "" = the network's own default is sent nothing
	GroupBids     bool                     // an ad group bids, whoever has the budget; else it is whoever has the budget
	Promoted      map[advert.Goal]Promoted // what a goal's promoted object needs; a goal that is not in it needs none
	VideoGoals    []advert.Goal            // goals whose ads show videos only
	BoostOnly     []advert.Goal            // goals that a creative cannot serve, only a post that exists
	NeverBoost    []advert.Goal            // goals that a post cannot serve, only a creative
	Places        []string                 // keys of the network's own targeting that say where
	Targeting     TargetingRules
	Lookalikes    []string     // countries that a lookalike can be in, lower-case; nil = any
	LookalikeMax  advert.Ratio // the largest share of a country's people that a lookalike can be
	LookalikeStep advert.Ratio // of which the share is made; 0 = any

	BudgetLevels       []advert.BudgetLevel // the first is what absence means
	MinimumDailyBudget advert.Amount        // of whichever currency; an ad account may ask for more
	MinimumEveryDay    bool                 // a lifetime budget must cover the minimum on each of its days
	Money              MoneyUnit
	currencies         map[string]int // supported currencies, and the decimals of an amount in them

	PauseLevels     []advert.Level // what has a switch of its own
	Switch          Switch
	StatusBatch     int // most switches in one call
	BusinessCenters bool

	Figures      Figures
	Conversions  ConversionRules
	Creative     CreativeRules
	Media        MediaRules
	Previews     []Medium // what an ad can show that is looked at before it is made; nil = the network has no previews
	Users        UserRules
	UsersPerCall int // most people in one call of an upload
	UserRemoval  bool
}

// Verified says against what the requests of the driver were checked.
type Verified string

// What drivers are checked against: the network's own description, or nothing but the sandbox. The API knows recorded answers (fixtures) too, which
// none is.
const (
	VerifiedSpec Verified = "spec"
	VerifiedNone Verified = "none"
)

// Reconcile says how Find recognises what a request has made that the network did not answer.
type Reconcile string

// With ReconcileNone Find cannot tell: the Idempotency-Key stays taken until a person settles the action. With ReconcileRepeat Find cannot either,
// but a Create that is sent again with the same token makes nothing twice for the time of Caps.RepeatFor. It could spend what nobody waits for any
// more, so only whoever asked for the ad sends it again, by sending the same request. After that time, and for an audience, it is as with
// ReconcileNone.
const (
	ReconcileToken  Reconcile = "token" // the network keeps our token
	ReconcileName   Reconcile = "name"  // the token stands in a name
	ReconcileRepeat Reconcile = "repeat"
	ReconcileNone   Reconcile = "none"
)

// Objective is the network's word for a goal.
type Objective struct {
	Goal advert.Goal
	Word string
}

// BidRule is a bid strategy that the network knows, its word for it, and the fields that must and must not come along.
type BidRule struct {
	Strategy advert.BidStrategy
	Word     string
	Requires []string
	Forbids  []string
	Goals    []advert.Goal // that it can be used for; nil = all
}

// Promoted says what the promoted object of a goal must have: one key of each of the groups. Events are those that it can name as
// custom_event_type; nil = any.
type Promoted struct {
	Requires [][]string
	Events   []string
}

// Switch is the network's words for on and off.
type Switch struct{ Active, Paused string }

// CreativeRules say which fields of a creative the network needs, which it has no place for, and how many characters
// each may have. A field without limit is not in Limits.
type CreativeRules struct {
	Required []string
	Ignored  []string
	Limits   map[string]int
}

// Medium is a kind of thing that people look at.
type Medium string

// What an ad can show.
const (
	MediumImage    Medium = "image"
	MediumVideo    Medium = "video"
	MediumCarousel Medium = "carousel"
)

// MediaRules say what the ads of a network show.
type MediaRules struct {
	Kinds      []Medium // of which an ad shows one
	IsOptional bool     // an ad may also be text alone
	MaxCards   int      // of a carousel, which has two at least
	VideoCards bool     // a card may show a video, too
	Replace    bool     // an ad can show something else later
}

// UserRules say by which identifiers the network finds people of a customer list, and in which form they are hashed.
type UserRules struct {
	Identifiers []advert.Identifier
	Phone       PhoneForm
	Details     []string // fields that the network matches besides an identifier
}

// PhoneForm is how a phone number is written before it is hashed.
type PhoneForm = advert.PhoneForm

// The forms of a number.
const (
	PhoneE164   = advert.PhoneE164
	PhoneDigits = advert.PhoneDigits
)

// Goals lists the goals that the network knows.
func (c Caps) Goals() []advert.Goal {
	goals := make([]advert.Goal, len(c.Objectives))
	for i, o := range c.Objectives {
		goals[i] = o.Goal
	}
	return goals
}

// Objective returns the network's word for a goal, or false if the network does not know the goal.
func (c Caps) Objective(goal advert.Goal) (string, bool) {
	for _, o := range c.Objectives {
		if o.Goal == goal {
			return o.Word, true
		}
	}
	return "", false
}

// GoalOf returns the goal for a network's word, or "" if there is none. If the word stands for several goals, it is the
// first of them in Objectives.
func (c Caps) GoalOf(objective string) advert.Goal {
	for _, o := range c.Objectives {
		if o.Word == objective {
			return o.Goal
		}
	}
	return ""
}

// Bid returns the rule of a bid strategy, or false if the network does not know the strategy.
func (c Caps) Bid(strategy advert.BidStrategy) (BidRule, bool) {
	for _, rule := range c.Bids {
		if rule.Strategy == strategy {
			return rule, true
		}
	}
	return BidRule{}, false
}

// BidStrategyOf returns the bid strategy for a network's word, or "" if there is none.
func (c Caps) BidStrategyOf(word string) advert.BidStrategy {
	for _, rule := range c.Bids {
		if rule.Word == word {
			return rule.Strategy
		}
	}
	return ""
}

// Currencies lists the currencies that the network supports, in alphabetical order.
func (c Caps) Currencies() []string { return slices.Sorted(maps.Keys(c.currencies)) }

// Decimals returns how many decimals an amount has at the network in a currency, or false for a currency that it does
// not support.
func (c Caps) Decimals(currency string) (int, bool) {
	decimals, ok := c.currencies[currency]
	return decimals, ok
}
