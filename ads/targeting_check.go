package ads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// TargetingRules say which words of a targeting a network has, and what they can be.
type TargetingRules struct {
	Words          []string // such as countries, excluded and audiences.include
	Excluded       []string // what of the words of a place can be excluded
	Apart          [][]string
	Genders        []string
	Placements     []string
	Devices        []string
	Youngest       int               // that age_min and age_max can be; 0 = it has no ages
	Bands          [][2]int          // what age_min and age_max must be made of; nil = any
	Languages      map[string]string // the network's word for a language, by its code in lower case; nil = the code
	Radius         bool              // a city can have one
	PlainLanguages bool              // a language is two letters, without a country
	MaxAudiences   int               // in include, and in exclude
	ExpandAges     bool              // with expand, age_min is at most 25 and age_max is open
	Categories     []Category        // that special_ad_categories can name
	DSA            bool              // an ad in the EU names who profits from it and who pays
}

// checkTargeting adds a problem for each word of a targeting that the network does not have or cannot follow.
func (c Caps) checkTargeting(p *core.Problems, w *wanted) {
	r := &c.Targeting
	for _, word := range w.words() {
		p.Check(slices.Contains(r.Words, word), w.at(word), fmt.Sprintf("%s cannot narrow an ad by %s. It can by: %s.", c.Platform, word, list(r.Words)))
	}
	c.checkPlaces(p, w.Places, w.at)
	if w.Excluded != nil {
		inside := func(word string) string { return w.at("excluded." + word) }
		c.checkPlaces(p, *w.Excluded, inside)
		for _, word := range w.Excluded.words() {
			p.Check(slices.Contains(r.Excluded, word) || !slices.Contains(r.Words, "excluded"), inside(word),
				fmt.Sprintf("%s cannot exclude %s. It can: %s.", c.Platform, word, list(r.Excluded)))
		}
	}
	for _, apart := range r.Apart {
		both := slices.DeleteFunc(slices.Clone(apart), func(word string) bool { return !slices.Contains(w.words(), word) })
		p.Check(len(both) < 2, w.at(apart[0]), fmt.Sprintf("%s takes one of: %s.", c.Platform, list(apart)))
	}
	for word, values := range map[string][2][]string{"genders": {w.Genders, r.Genders}, "placements": {w.Placements, r.Placements}, "devices": {w.Devices, r.Devices}} {
		for _, value := range values[0] {
			p.Check(slices.Contains(values[1], value) || !slices.Contains(r.Words, word), w.at(word),
				fmt.Sprintf("%s has these %s: %s.", c.Platform, word, list(values[1])))
		}
	}
	c.checkAges(p, w)
	c.checkLanguages(p, w)
	if a := w.Audiences; a != nil && r.MaxAudiences > 0 {
		for word, ids := range map[string][]string{"audiences.include": a.Include, "audiences.exclude": a.Exclude} {
			p.Check(len(ids) <= r.MaxAudiences, w.at(word), fmt.Sprintf("%s takes at most %d audiences.", c.Platform, r.MaxAudiences))
		}
	}
}

// checkPlaces adds a problem for a country that is none, and for a radius that the network does not take.
func (c Caps) checkPlaces(p *core.Problems, places Places, at func(string) string) {
	for _, country := range places.Countries {
		p.Check(advert.IsCountry(country), at("countries"), "Send countries of two letters, such as US.")
	}
	for _, city := range places.Cities {
		p.Check(city.RadiusKM == 0 || c.Targeting.Radius, at("cities"), fmt.Sprintf("%s takes a city without a radius_km.", c.Platform))
	}
}

// checkAges adds a problem for ages that cannot be, or that the network does not tell apart.
func (c Caps) checkAges(p *core.Problems, w *wanted) {
	r := &c.Targeting
	youngest, oldest := max(w.AgeMin, r.Youngest), w.AgeMax
	if oldest == 0 {
		oldest = OldestAge
	}
	p.Check(w.AgeMin == 0 || w.AgeMax == 0 || w.AgeMin <= w.AgeMax, w.at("age_max"), "Send an age_max that is at least age_min.")
	p.Check(w.AgeMin == 0 || w.AgeMin >= r.Youngest, w.at("age_min"), fmt.Sprintf("On %s age_min is at least %d.", c.Platform, r.Youngest))
	p.Check(w.AgeMax == 0 || w.AgeMax >= r.Youngest, w.at("age_max"), fmt.Sprintf("On %s age_max is at least %d.", c.Platform, r.Youngest))
	if len(r.Bands) > 0 && (w.AgeMin > 0 || w.AgeMax > 0) {
		begins := slices.ContainsFunc(r.Bands, func(b [2]int) bool { return b[0] == youngest })
		ends := slices.ContainsFunc(r.Bands, func(b [2]int) bool { return b[1] == oldest })
		p.Check(begins, w.at("age_min"), fmt.Sprintf("%s knows ages in bands: %s. Begin where one does.", c.Platform, bands(r.Bands)))
		p.Check(ends, w.at("age_max"), fmt.Sprintf("%s knows ages in bands: %s. End where one does.", c.Platform, bands(r.Bands)))
	}
	if w.Expand && r.ExpandAges {
		p.Check(w.AgeMin <= 25, w.at("age_min"), fmt.Sprintf("With expand age_min is at most 25 on %s: leave expand out, or send less.", c.Platform))
		p.Check(w.AgeMax == 0 || w.AgeMax == OldestAge, w.at("age_max"), fmt.Sprintf("With expand %s has no age_max but 65: leave one of the two out.", c.Platform))
	}
}

// bands returns age bands for people.
func bands(all [][2]int) string {
	texts := make([]string, len(all))
	for i, b := range all {
		texts[i] = fmt.Sprintf("%d-%d", b[0], b[1])
		if b[1] == OldestAge {
			texts[i] = fmt.Sprintf("%d+", b[0])
		}
	}
	return strings.Join(texts, ", ")
}

// checkLanguages adds a problem for a language that the network does not know. A number is the network's own id, which only it can check.
func (c Caps) checkLanguages(p *core.Problems, w *wanted) {
	for _, language := range w.Languages {
		p.Check(!c.Targeting.PlainLanguages || advert.IsCountry(language), w.at("languages"), fmt.Sprintf("%s knows languages by two letters, such as pt, whatever the country.", c.Platform))
		known := c.Targeting.Languages == nil || strings.Trim(language, "0123456789") == "" || c.Targeting.Languages[strings.ToLower(language)] != ""
		p.Check(known, w.at("languages"), fmt.Sprintf("%s knows these languages: %s. Or send its own id of one, from GET /ads/targeting/search.",
			c.Platform, list(c.Targeting.LanguageCodes())))
	}
}
