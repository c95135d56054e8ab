package ads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// What a targeting can name by an id of the network, which a search finds.
const (
	SearchCountry  = "country"
	SearchRegion   = "region"
	SearchCity     = "city"
	SearchZip      = "zip"
	SearchMetro    = "metro"
	SearchInterest = "interest"
	SearchBehavior = "behavior"
	SearchLanguage = "language"
)

// Search says what to look for.
type Search struct {
	Type    string // one of Caps.SearchTypes
	Text    string // what words of the name begin with; "" only for a type that is short enough to be listed whole
	Country string // that a place is in, two capital letters; "" = any
}

// TargetingOption is something that a targeting can name. ID is the network's, as a targeting takes it.
type TargetingOption struct {
	Platform     advert.Platform // a driver leaves it out
	ID           string
	Name         string
	Type         string
	Path         []string // what it is a part of, the widest first
	AudienceSize *int64   // how many people it reaches at least; nil = not known
	Country      string   // of a place, two capital letters; "" = none, or not known
}

// SearchTargeting says what to look for, as it was sent.
type SearchTargeting struct {
	AccountID string
	Type      string
	Q         string
	Country   string
}

// listed are the types of which networks have so few that all of them can be listed.
var listed = []string{SearchCountry, SearchBehavior, SearchLanguage}

// inCountries are the types of what lies in a country.
var inCountries = []string{SearchRegion, SearchCity, SearchZip, SearchMetro}

// read checks what was sent, as far as that can be said without the network. A type that is too long to be listed needs a
// text, a post code its country as well: the same code exists in many.
func (in SearchTargeting) read() (Search, error) {
	q := Search{in.Type, strings.TrimSpace(in.Q), strings.ToUpper(in.Country)}
	need := required{{"account_id", in.AccountID}, {"type", in.Type}}
	if !slices.Contains(listed, q.Type) {
		need = append(need, required{{"q", q.Text}}...)
	}
	if q.Type == SearchZip {
		need = append(need, required{{"country", q.Country}}...)
	}
	if err := need.err(); err != nil {
		return q, err
	}
	if q.Country != "" && !slices.Contains(inCountries, q.Type) {
		return q, core.Invalid("country", "country narrows a search for a "+list(inCountries)+". Leave it out.")
	}
	return q, nil
}

// SearchTargeting returns what a targeting can name at the network of a channel. A type that the network does not have is
// CodeInvalid on type.
func (s *Service) SearchTargeting(ctx context.Context, account string, in SearchTargeting) ([]TargetingOption, error) {
	q, err := in.read()
	if err != nil {
		return nil, err
	}
	line, err := s.activated(ctx, account, in.AccountID)
	if err != nil {
		return nil, err
	}
	if types := line.Caps().SearchTypes; !slices.Contains(types, q.Type) {
		return nil, core.Invalid("type", fmt.Sprintf("On %s type must be one of %s.", line.channel.Platform, list(types)))
	}
	found, err := line.SearchTargeting(ctx, line.conn, q)
	if err != nil {
		return nil, unanswered(line.channel.Platform, "targeting option", err)
	}
	for i := range found {
		found[i].Platform = line.channel.Platform
	}
	return found, nil
}

// SearchTargeting implements Network.
func (o outside) SearchTargeting(ctx context.Context, c Conn, q Search) ([]TargetingOption, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.SearchTargeting(ctx, c, q)
}

// Matches reports whether each word of a text is the beginning of a word of the name. Case and accents do not count. It is
// for networks that list everything and search nothing.
func (q Search) Matches(name string) bool {
	words := wordsOf(name)
	for _, wanted := range wordsOf(q.Text) {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, wanted) }) {
			return false
		}
	}
	return true
}

// wordsOf splits a text into words without case and accents.
func wordsOf(text string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
	return strings.FieldsFunc(plain, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
