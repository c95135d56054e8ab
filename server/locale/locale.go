// Package locale says things in the languages of buyers: messages of a catalogue, money, numbers, dates and names of countries.
package locale

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bojanz/currency"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed en.json de.json fr.json es.json pt-BR.json ja.json
var files embed.FS

// tags are the languages that there are. The first is the one that is spoken where nothing says which.
var tags = []string{"en", "de", "fr", "es", "pt-BR", "ja"}

// Locale is a language with the customs of its writing.
type Locale struct {
	Tag string // as in HTML's lang
	Dir string // ltr or rtl

	language  language.Tag
	messages  map[string]message
	money     [maxExponent + 1]*currency.Formatter // by the decimals of the currency
	byCode    bool                                 // money is written with the code of its currency
	names     func(text string) string             // what becomes of names that are not in the catalogue, nil for nothing
	countries func() []Country
}

// message is what is said under a key: a text, or one for each plural form.
type message map[plural.Form]text

// text is a message taken apart at its placeholders: words[i] stands before names[i].
type text struct{ words, names []string }

// The locales. All of them are made when the program starts: their text is in it, and the tests read all of it.
var (
	all     = load()
	English = all[0]
	// EnglishCodes is English that names currencies by their codes, as documents do that bookkeepers read.
	EnglishCodes = func() *Locale { l := *English; l.byCode = true; return &l }()
)

// All returns the locales that buyers may have.
func All() []*Locale { return slices.Clone(all) }

func load() []*Locale {
	locales := make([]*Locale, len(tags))
	for i, tag := range tags {
		catalogue, err := files.ReadFile(tag + ".json")
		if err != nil {
			panic(err) // it is embedded
		}
		var said map[string]any
		if err := json.Unmarshal(catalogue, &said); err != nil {
			panic(fmt.Errorf("%s.json: %w", tag, err)) // the tests would have found it
		}
		locales[i] = newLocale(tag, "ltr", said)
	}
	return locales
}

// newLocale returns a locale with the messages of a catalogue: texts, or objects with a text for each plural form.
func newLocale(tag, dir string, said map[string]any) *Locale {
	l := &Locale{Tag: tag, Dir: dir, language: language.Make(tag), messages: make(map[string]message, len(said))}
	for key, value := range said {
		m := message{}
		switch value := value.(type) {
		case string:
			m[plural.Other] = textOf(value)
		case map[string]any:
			for form, text := range value {
				m[forms[form]] = textOf(text.(string))
			}
		}
		l.messages[key] = m
	}
	for digits := range l.money {
		l.money[digits] = currency.NewFormatter(currency.NewLocale(tag))
		l.money[digits].MinDigits, l.money[digits].MaxDigits = uint8(digits), uint8(digits)
	}
	l.countries = sync.OnceValue(l.listCountries)
	return l
}

// forms are the names of plural forms in a catalogue.
var forms = map[string]plural.Form{"one": plural.One, "other": plural.Other}

// textOf takes a message apart at its {placeholders}.
func textOf(source string) text {
	var t text
	for {
		before, rest, found := strings.Cut(source, "{")
		t.words = append(t.words, before)
		if !found {
			return t
		}
		name, after, _ := strings.Cut(rest, "}")
		t.names, source = append(t.names, name), after
	}
}

// T returns the message of a key, with values in place of its placeholders: named is a name and its value, and so on. The value
// of "count" also chooses the plural form. A key that there is not is returned itself.
func (l *Locale) T(key string, named ...any) string {
	m, known := l.messages[key]
	if !known {
		return key
	}
	t := m[plural.Other]
	if len(m) > 1 {
		if one, has := m[l.form(named)]; has {
			t = one
		}
	}
	if len(t.names) == 0 {
		return t.words[0]
	}
	var said strings.Builder
	for i, words := range t.words {
		said.WriteString(words)
		if i < len(t.names) {
			said.WriteString(l.value(t.names[i], named))
		}
	}
	return said.String()
}

// Has reports whether there is a message of the key.
func (l *Locale) Has(key string) bool { return len(l.messages[key]) > 0 }

// form returns the plural form for the count among the values.
func (l *Locale) form(named []any) plural.Form {
	count, _ := valueOf("count", named).(int64)
	return plural.Cardinal.MatchPlural(l.language, int(count), 0, 0, 0, 0)
}

// value returns a value as it stands in a message. What somebody wrote does not reorder what stands around it.
func (l *Locale) value(name string, named []any) string {
	switch value := valueOf(name, named).(type) {
	case string:
		return l.Isolated(value)
	case *string:
		if value != nil {
			return l.Isolated(*value)
		}
		return ""
	case int64:
		return l.Number(value)
	case *int64:
		if value != nil {
			return l.Number(*value)
		}
		return ""
	default:
		return l.Isolated(fmt.Sprint(value))
	}
}

func valueOf(name string, named []any) any {
	for i := 0; i+1 < len(named); i += 2 {
		if named[i] == name {
			return named[i+1]
		}
	}
	return ""
}

// Isolated returns a text between the signs that keep its direction to itself, if it may have another one than what stands around it.
func (l *Locale) Isolated(text string) string {
	const firstOther, fsi, pdi = '\u0590', "\u2068", "\u2069" // before Hebrew, all letters run from left to right
	other := func(r rune) bool {
		return r >= firstOther && (r < '\u0900' || r == '\u200E' || r == '\u200F' || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' ||
			r >= '\uFB1D' && r <= '\uFEFC' || r >= '\U00010800' && r <= '\U0001EFFF')
	}
	if text == "" || l.Dir == "ltr" && !strings.ContainsFunc(text, other) {
		return text
	}
	return fsi + text + pdi
}

// Find returns the locale of a language tag, such as that of German for de-AT, nil if there is none or it is no tag.
func Find(tag string) *Locale {
	if tag == "" || len(tag) > maxTag {
		return nil
	}
	wanted, err := language.Parse(tag)
	if err != nil {
		return nil
	}
	if _, at, sure := matcher.Match(wanted); sure >= language.High {
		return all[at]
	}
	return nil
}

// Canonical returns a language tag as the standard writes it. It is empty for what is no tag.
func Canonical(tag string) string {
	if tag == "" || len(tag) > maxTag {
		return ""
	}
	parsed, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	return parsed.String()
}

// SameLanguage reports whether two tags are of one language in one script, such as de and de-AT. A text that names no language is that of no other.
func SameLanguage(a, b string) bool {
	if a == b {
		return true
	}
	first, second := language.Make(a), language.Make(b)
	firstBase, firstSure := first.Base() // which guesses English where no language is named
	secondBase, secondSure := second.Base()
	firstScript, _ := first.Script()
	secondScript, _ := second.Script()
	return firstBase == secondBase && firstScript == secondScript && min(firstSure, secondSure) == language.Exact
}

// DirOf returns the direction in which the language of a tag is written, ltr or rtl.
func DirOf(tag string) string {
	switch script, _ := language.Make(tag).Script(); script.String() {
	case "Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa":
		return "rtl"
	}
	return "ltr"
}

const (
	maxTag    = 35  // characters of a language tag that the API takes
	maxAccept = 500 // bytes of an Accept-Language that are read: no browser sends more
)

var matcher = language.NewMatcher(func() []language.Tag {
	parsed := make([]language.Tag, len(tags))
	for i, tag := range tags {
		parsed[i] = language.Make(tag)
	}
	return parsed
}())

// Accepted returns the locale that an Accept-Language header wants most, nil if there is none of those it names.
func Accepted(header string) *Locale {
	if header == "" || len(header) > maxAccept {
		return nil
	}
	wanted, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return nil
	}
	for _, tag := range wanted {
		if _, at, sure := matcher.Match(tag); sure >= language.High {
			return all[at]
		}
	}
	return nil
}

// Keys returns the keys of the messages, in order.
func (l *Locale) Keys() []string {
	keys := make([]string, 0, len(l.messages))
	for key := range l.messages {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
