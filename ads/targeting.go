package ads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Targeting says whom an ad is shown to, in the same words for all networks. What is empty narrows nothing. The ids in it are the
// network's own.
type Targeting struct {
	Places
	Excluded   *Places          `json:"excluded,omitempty"`
	AgeMin     int              `json:"age_min,omitempty"`
	AgeMax     int              `json:"age_max,omitempty"` // OldestAge is everybody from then on
	Genders    []string         `json:"genders,omitempty"` // female | male | unknown
	Languages  []string         `json:"languages,omitempty"`
	Interests  []Option         `json:"interests,omitempty"`
	Behaviors  []Option         `json:"behaviors,omitempty"`
	Audiences  *TargetAudiences `json:"audiences,omitempty"`
	Placements []string         `json:"placements,omitempty"` // feed | stories | reels | search | marketplace | network; none = automatic
	Devices    []string         `json:"devices,omitempty"`    // mobile | desktop
	Expand     bool             `json:"expand,omitempty"`     // the network may show it to others
}

// Places are where people are.
type Places struct {
	Countries []string `json:"countries,omitempty"` // two letters, upper-case
	Regions   []Option `json:"regions,omitempty"`
	Cities    []City   `json:"cities,omitempty"`
	Zips      []Option `json:"zips,omitempty"`
	Metros    []Option `json:"metros,omitempty"`
}

// Option is one of a network's options. Its name is for people.
type Option struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// City is a city with what lies around it. Without a radius it is the city alone.
type City struct {
	Option
	RadiusKM int `json:"radius_km,omitempty"`
}

// TargetAudiences are audiences by platform id: only people of one of Include, and nobody of Exclude.
type TargetAudiences struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// The ages that a targeting can name. The oldest stands for everybody from then on.
const (
	YoungestAge = 13
	OldestAge   = 65
)

// TargetingInput says whom an ad is shown to, as it was sent. It has the object, the words of it that stand beside it, and what is in the network's
// own words.
type TargetingInput struct {
	Targeting         advert.Object
	Beside            advert.Object
	Platform          advert.Object
	Categories        []string
	CategoryCountries []string
	DSABeneficiary    string
	DSAPayor          string
}

// isSent reports whether anything of a targeting was sent.
func (in *TargetingInput) isSent() bool { return in.Targeting+in.Beside+in.Platform != "" }

// wanted is a targeting that is being read. where says by which name each of its words was sent.
type wanted struct {
	Targeting
	where map[string]string
}

// at returns the name by which a word was sent.
func (w *wanted) at(word string) string {
	if top, rest, nested := strings.Cut(word, "."); nested && w.where[top] != "" {
		return w.where[top] + "." + rest
	}
	if name := w.where[word]; name != "" {
		return name
	}
	return "targeting." + word
}

// targetingWords are all words that a targeting can have.
var targetingWords = []string{
	"countries", "regions", "cities", "zips", "metros", "excluded", "age_min", "age_max", "genders", "languages", "interests", "behaviors",
	"audiences", "placements", "devices", "expand",
}

// read reads the two places in which a targeting can be sent. A word in both, and one that there is not, is a problem.
func (in *TargetingInput) read(p *core.Problems) *wanted {
	w := &wanted{where: map[string]string{}}
	all := map[string]json.RawMessage{}
	for prefix, object := range map[string]advert.Object{"targeting.": in.Targeting, "": in.Beside} {
		words := map[string]json.RawMessage{}
		if object.Decode(&words) != nil {
			p.Add("targeting", "Send the targeting as a JSON object.")
			return w
		}
		for word, value := range words {
			if !slices.Contains(targetingWords, word) {
				p.Add("targeting."+word, fmt.Sprintf("A targeting has no word %.100q, it has: %s. What only the network knows goes into platform_targeting.",
					word, strings.Join(targetingWords, ", ")))
				continue
			}
			if string(value) == "null" {
				continue
			}
			_, twice := all[word]
			p.Check(!twice, word, "Send "+word+" once: in targeting or beside it.")
			all[word], w.where[word] = value, prefix+word
		}
	}
	if advert.NewObject(all).Decode(&w.Targeting) != nil {
		p.Add("targeting", "Send the targeting as it is described.")
	}
	upper(w.Countries)
	if w.Excluded != nil {
		upper(w.Excluded.Countries)
	}
	return w
}

// upper turns words into upper case.
func upper(words []string) {
	for i, word := range words {
		words[i] = strings.ToUpper(word)
	}
}

// isNowhere reports whether no place is named.
func (p *Places) isNowhere() bool {
	return len(p.Countries)+len(p.Regions)+len(p.Cities)+len(p.Zips)+len(p.Metros) == 0
}

// words returns the words for the places that are named.
func (p *Places) words() []string {
	return named(map[string]bool{
		"countries": len(p.Countries) > 0, "regions": len(p.Regions) > 0, "cities": len(p.Cities) > 0, "zips": len(p.Zips) > 0, "metros": len(p.Metros) > 0,
	})
}

// words returns the words that narrow the targeting, and expand.
func (t *Targeting) words() []string {
	audiences := TargetAudiences{}
	if t.Audiences != nil {
		audiences = *t.Audiences
	}
	return append(t.Places.words(), named(map[string]bool{
		"excluded": t.Excluded != nil && !t.Excluded.isNowhere(), "age_min": t.AgeMin > 0, "age_max": t.AgeMax > 0, "genders": len(t.Genders) > 0,
		"languages": len(t.Languages) > 0, "interests": len(t.Interests) > 0, "behaviors": len(t.Behaviors) > 0,
		"audiences.include": len(audiences.Include) > 0, "audiences.exclude": len(audiences.Exclude) > 0,
		"placements": len(t.Placements) > 0, "devices": len(t.Devices) > 0, "expand": t.Expand,
	})...)
}

// named returns the names that are true, in alphabetical order.
func named(names map[string]bool) []string {
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(names))
}

// Overlay returns what is said in a network's own words. It has what the targeting says, what the caller says in those words himself, and the
// defaults for what neither says. A key that both set is Rejected.
func Overlay(said any, own advert.Object, defaults map[string]any) (advert.Object, error) {
	words, ours := map[string]any{}, map[string]any{}
	if err := advert.NewObject(said).Decode(&words); err != nil {
		return "", err
	}
	if own.Decode(&ours) != nil {
		return "", &Rejected{Field: fieldPlatformTargeting, Message: "Send platform_targeting as a JSON object."}
	}
	for key, value := range ours {
		if _, both := words[key]; both {
			return "", &Rejected{Field: fieldPlatformTargeting + "." + key, Message: "targeting sets " + key + " too. Send it in one of them."}
		}
		words[key] = value
	}
	for key, value := range defaults {
		if _, said := words[key]; !said {
			words[key] = value
		}
	}
	return advert.NewObject(words), nil
}

const fieldPlatformTargeting = "platform_targeting"

// target reads whom the ad is shown to into the plan. Without a place it is the ad account's country.
func (s *Service) target(ctx context.Context, d *draft, in *TargetingInput) error {
	w := in.read(&d.problems)
	account, plan := &d.plan.AdAccount, d.plan
	if !hasKey(in.Platform, d.caps.Places) {
		d.warnings = append(d.warnings, w.settle(account, &d.problems)...)
	}
	d.caps.checkTargeting(&d.problems, w)
	lookalike, err := s.resolveAudiences(ctx, d.line, account.PlatformID, w, &d.problems)
	if err != nil {
		return err
	}
	d.categories(in, w, lookalike)
	s.transparency(ctx, d, in, w.Countries)
	if len(d.problems) > 0 {
		return nil
	}
	plan.Targeting = w.Targeting
	plan.PlatformTargeting, err = d.line.Target(w.Targeting, in.Platform)
	return rejectedIn(&d.problems, err)
}

// settle names the ad account's country if the targeting names no place, and returns the warning that says so.
func (w *wanted) settle(a *advert.Account, p *core.Problems) []string {
	switch {
	case !w.isNowhere():
		return nil
	case a.Country == "":
		p.Add("targeting", "Say where: send targeting.countries, because the country of the ad account is not known.")
		return nil
	}
	w.Countries = []string{a.Country}
	return []string{"targeting names no place, so the ad is shown in " + a.Country + ", the country of the ad account."}
}

// rejectedIn turns a refusal by a driver into a problem, and returns any other error.
func rejectedIn(p *core.Problems, err error) error {
	var refused *Rejected
	if errors.As(err, &refused) {
		p.Add(refused.Field, refused.Message)
		return nil
	}
	return err
}

// hasKey reports whether an object has one of the keys.
func hasKey(o advert.Object, keys []string) bool {
	var object map[string]json.RawMessage
	return o.Decode(&object) == nil && slices.ContainsFunc(keys, func(key string) bool { return object[key] != nil })
}

// sent returns the fields that were sent, by name.
func (in *TargetingInput) sent() required {
	fields := required{
		{"targeting", string(in.Targeting)}, {fieldPlatformTargeting, string(in.Platform)}, {"dsa_beneficiary", in.DSABeneficiary}, {"dsa_payor", in.DSAPayor},
		{"special_ad_categories", strings.Join(in.Categories, ",")}, {"special_ad_countries", strings.Join(in.CategoryCountries, ",")},
	}
	words := map[string]json.RawMessage{}
	if in.Beside.Decode(&words) == nil {
		for word, value := range words {
			fields = append(fields, required{{word, string(value)}}...)
		}
	}
	return fields
}

// retarget reads whom an ad group is to be shown to from now on into the patch.
func (s *Service) retarget(ctx context.Context, e *edit, in *TargetingInput) error {
	p, caps := &e.problems, e.line.Caps()
	if !caps.Targeting.DSA {
		checkNoDSA(caps, in, p.Check)
	}
	e.patch.DSABeneficiary, e.patch.DSAPayor = in.DSABeneficiary, in.DSAPayor
	if !in.isSent() {
		return nil
	}
	w := in.read(p)
	p.Check(!w.isNowhere() || hasKey(in.Platform, caps.Places), "targeting", "Say where, with targeting.countries: what is sent replaces the whole targeting.")
	caps.checkTargeting(p, w)
	if _, err := s.resolveAudiences(ctx, e.line, e.adAccount.PlatformID, w, p); err != nil || len(*p) > 0 {
		return err
	}
	words, err := e.line.Target(w.Targeting, in.Platform)
	if words != e.targeting {
		e.patch.Targeting, e.patch.PlatformTargeting = &w.Targeting, words
	}
	return rejectedIn(p, err)
}
