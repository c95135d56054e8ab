package locale

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/feature/plural"
)

// A message is there in every language, says the same things, and is said by some page or letter.
func TestCatalogue_IsTheSameInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, l := range All()[1:] {
		require.Equal(t, English.Keys(), l.Keys(), l.Tag)
	}
	for _, key := range English.Keys() {
		for _, l := range All() {
			for form, said := range l.messages[key] {
				assert.ElementsMatch(t, unique(English.messages[key][plural.Other].names), unique(said.names), "%s in %s", key, l.Tag)
				text := strings.Join(said.words, "")
				assert.NotEmpty(t, text+strings.Join(said.names, ""), "%s in %s", key, l.Tag)
				assert.NotContains(t, text, "}", "%s in %s", key, l.Tag)
				assert.NotContains(t, text, "<", "%s in %s", key, l.Tag)
				if form == plural.One {
					assert.NotEqual(t, "ja", l.Tag, "Japanese has one form: %s", key)
				}
			}
			if len(English.messages[key]) > 1 && l.Tag != "ja" {
				assert.Len(t, l.messages[key], 2, "%s in %s has no form for one", key, l.Tag)
			}
		}
	}
}

// A sentence says one thing: it has 25 words at most. Japanese has no spaces between them, and two to three characters are a word.
func TestCatalogue_SaysItInShortSentences(t *testing.T) {
	t.Parallel()
	const mostWords, mostCharacters = 25, 60
	end, word := regexp.MustCompile(`[.!?]\s|。`), regexp.MustCompile(`\S*[\pL\pN]\S*`)
	for _, l := range All() {
		for key, m := range l.messages {
			for _, said := range m {
				for _, sentence := range end.Split(strings.Join(said.words, "x"), -1) {
					assert.LessOrEqual(t, len(word.FindAllString(sentence, -1)), mostWords, "%s in %s: %s", key, l.Tag, sentence)
					if l.Tag == "ja" {
						assert.LessOrEqual(t, utf8.RuneCountInString(sentence), mostCharacters, "%s in %s: %s", key, l.Tag, sentence)
					}
				}
			}
		}
	}
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// families are the beginnings of keys that are put together with a state, a code or a number.
var families = []string{"month.", "weekday.", "every.", "cancel.reason.", "decline.", "error.email."}

func TestCatalogue_HasWhatIsSaidAndNoMore(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	key := regexp.MustCompile(`(?:\bt|\.T\(|T\() ?"([a-z_]+(?:\.[a-z0-9_]+)+)"`)
	literal := regexp.MustCompile(`"([a-z_]+(?:\.[a-z0-9_]+)+)"`)
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".html") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range key.FindAllStringSubmatch(string(source), -1) {
			assert.True(t, English.Has(found[1]), "%s says %s, which is not in the catalogue", path, found[1])
		}
		for _, found := range literal.FindAllStringSubmatch(string(source), -1) {
			said[found[1]], said[found[1]+".text"] = true, said[found[1]+".text"] || strings.HasPrefix(found[1], "message.")
		}
		return err
	}))
	for _, key := range English.Keys() {
		isOne := slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(key, family) })
		assert.True(t, said[key] || isOne, "nothing says %s", key)
	}
}

func TestT_PutsValuesInTheirPlaces(t *testing.T) {
	t.Parallel()
	german := Find("de")
	assert.Equal(t, "Ada’s GmbH hat", strings.Split(german.T("checkout.closed", "seller", "Ada’s GmbH"), " diese")[0])
	assert.Equal(t, "Write at most 1 character.", English.T("error.long", "count", int64(1)))
	assert.Equal(t, "Write at most 1,000 characters.", English.T("error.long", "count", int64(1000)))
	assert.Equal(t, "1文字以内で入力してください。", Find("ja").T("error.long", "count", int64(1)))
	assert.Equal(t, "0 caractère au plus.", Find("fr").T("error.long", "count", int64(0)), "zero is singular in French")
	assert.Equal(t, "no.such.key", English.T("no.such.key"))
	hebrew, overridden := "חנות", "x\u202Ey"
	assert.Contains(t, English.T("letter.for_account", "seller", hebrew), "\u2068"+hebrew+"\u2069")
	assert.Contains(t, English.T("letter.for_account", "seller", overridden), "\u2068"+overridden+"\u2069")
	assert.Contains(t, Mirrored.T("letter.for_account", "seller", "Ada"), "\u2068Ada\u2069")
}

// The networks that it names may begin with an article.
func TestAdsConsent_BeginsWithACapital(t *testing.T) {
	t.Parallel()
	for _, l := range All() {
		for _, key := range []string{"ads.consent", "lead_form.ads"} {
			text := l.T(key, "networks", l.T("ads.networks", "seller", "Kestrel"), "seller", "Kestrel")
			assert.NotRegexp(t, `^\p{Ll}`, text, "%s, %s", l.Tag, key)
		}
	}
}

func TestFind_TakesTheNearestLanguageThereIs(t *testing.T) {
	t.Parallel()
	for tag, found := range map[string]string{"de": "de", "de-AT": "de", "pt": "pt-BR", "pt-BR": "pt-BR", "en-GB": "en", "fr-CA": "fr", "es-419": "es", "ja-JP": "ja", "DE": "de"} {
		require.NotNil(t, Find(tag), tag)
		assert.Equal(t, found, Find(tag).Tag, tag)
	}
	for _, none := range []string{"", "nl", "zh", "und", "x", "<script>", "../de", strings.Repeat("de-", 100), "en-XA", "ar-XB"} {
		if l := Find(none); l != nil {
			assert.Equal(t, "en", l.Tag, none)
			assert.Equal(t, "en-XA", none)
		}
	}
}

func TestAccepted_TakesTheFirstThereIs(t *testing.T) {
	t.Parallel()
	for header, found := range map[string]string{
		"de-CH,de;q=0.9,en;q=0.8": "de", "nl,fr;q=0.5,en;q=0.4": "fr", "en;q=0.4,ja;q=0.9": "ja", "pt-BR,pt;q=0.8": "pt-BR",
	} {
		require.NotNil(t, Accepted(header), header)
		assert.Equal(t, found, Accepted(header).Tag, header)
	}
	for _, none := range []string{"", "*", "nl", "zh-CN,zh;q=0.9", ";;;", strings.Repeat("de,", 1000)} {
		assert.Nil(t, Accepted(none), none)
	}
}

// As CLDR 48 has them.
func TestMoney_IsWrittenAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	const nbsp, narrow = "\u00a0", "\u202f"
	for _, c := range []struct {
		tag, code string
		amount    int64
		written   string
	}{
		{"en", "eur", 2380, "€23.80"}, {"en", "usd", 123450, "$1,234.50"}, {"en", "usd", -500, "-$5.00"}, {"en", "jpy", 3800, "¥3,800"}, {"en", "kwd", 23800, "KWD" + nbsp + "23.800"},
		{"de", "eur", 2380, "23,80" + nbsp + "€"}, {"de", "usd", 123450, "1.234,50" + nbsp + "$"}, {"de", "jpy", 3800, "3.800" + nbsp + "¥"}, {"de", "eur", -2380, "-23,80" + nbsp + "€"},
		{"fr", "eur", 123456789, "1" + narrow + "234" + narrow + "567,89" + nbsp + "€"}, {"fr", "usd", 2380, "23,80" + nbsp + "$US"},
		{"es", "eur", 123450, "1234,50" + nbsp + "€"}, {"es", "eur", 1234500, "12.345,00" + nbsp + "€"},
		{"pt-BR", "brl", 2380, "R$" + nbsp + "23,80"}, {"pt-BR", "usd", 2380, "US$" + nbsp + "23,80"},
		{"ja", "jpy", 3800, "￥3,800"}, {"ja", "eur", 2380, "€23.80"}, {"ja", "kwd", 23800, "KWD" + nbsp + "23.800"},
		{"en", "isk", 500, "ISK" + nbsp + "500"}, {"en", "huf", 17500, "HUF" + nbsp + "175.00"}, {"en", "", 1, nbsp + "0.01"}, {"en", "???", 1, "???" + nbsp + "0.01"},
	} {
		assert.Equal(t, c.written, Find(c.tag).Money(c.amount, c.code), "%s in %s", c.code, c.tag)
	}
	assert.Equal(t, "EUR"+nbsp+"23.80", EnglishCodes.Money(2380, "eur"))
}

func TestNumbersAndDates_AreWrittenAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 12, 9, 15, 4, 0, 0, time.UTC)
	for tag, written := range map[string][]string{
		"en":    {"1,234", "12,345", "-1,234,567", "19.5%", "20%", "9 December 2026", "Wednesday, 9 December 2026, 15:04", "every month", "every 3 weeks"},
		"de":    {"1.234", "12.345", "-1.234.567", "19,5\u00a0%", "20\u00a0%", "9. Dezember 2026", "Mittwoch, 9. Dezember 2026, 15:04", "pro Monat", "alle 3 Wochen"},
		"fr":    {"1\u202f234", "12\u202f345", "-1\u202f234\u202f567", "19,5\u202f%", "20\u202f%", "9 décembre 2026", "mercredi 9 décembre 2026, 15:04", "par mois", "toutes les 3 semaines"},
		"es":    {"1234", "12.345", "-1.234.567", "19,5\u00a0%", "20\u00a0%", "9 de diciembre de 2026", "miércoles, 9 de diciembre de 2026, 15:04", "al mes", "cada 3 semanas"},
		"pt-BR": {"1.234", "12.345", "-1.234.567", "19,5%", "20%", "9 de dezembro de 2026", "quarta-feira, 9 de dezembro de 2026, 15:04", "por mês", "a cada 3 semanas"},
		"ja":    {"1,234", "12,345", "-1,234,567", "19.5%", "20%", "2026年12月9日", "2026年12月9日水曜日 15:04", "毎月", "3週間ごと"},
	} {
		l := Find(tag)
		assert.Equal(t, written, []string{l.Number(1234), l.Number(12345), l.Number(-1234567), l.Percent(1950), l.Percent(2000), l.Day(day), l.Moment(day), l.Every("month", 1), l.Every("week", 3)}, tag)
	}
}

func TestSameLanguage_KnowsRegionsAndScripts(t *testing.T) {
	t.Parallel()
	assert.True(t, SameLanguage("de", "de-AT"))
	assert.True(t, SameLanguage("zh-TW", "zh-Hant"))
	assert.False(t, SameLanguage("zh-TW", "zh-CN"))
	assert.False(t, SameLanguage("de", "fr"))
	for _, unknown := range []string{"xx", "German", "?"} { // an account may have any text
		assert.False(t, SameLanguage(unknown, "en"), unknown)
	}
	for tag, dir := range map[string]string{"de": "ltr", "ar": "rtl", "he-IL": "rtl", "fa": "rtl", "pa-Arab": "rtl", "pa": "ltr", "no tag": "ltr"} {
		assert.Equal(t, dir, DirOf(tag), tag)
	}
}

func TestGap_IsThatOfTheLanguage(t *testing.T) {
	t.Parallel()
	for tag, gap := range map[string]string{"en": " ", "de-AT": " ", "ja": "", "ja-JP": ""} {
		assert.Equal(t, gap, newLocale(tag, "ltr", nil).Gap(), tag)
	}
}

func TestPseudo_HasNoLetterOfEnglish(t *testing.T) {
	t.Parallel()
	for _, key := range Accented.Keys() {
		for form, said := range Accented.messages[key] {
			text := strings.Join(said.words, "")
			assert.NotRegexp(t, "[A-Za-z]", text, key)
			assert.Equal(t, English.messages[key][form].names, said.names)
		}
	}
	assert.Greater(t, len([]rune(Accented.T("checkout.title"))), len("Checkout")*14/10)
	assert.Equal(t, "rtl", Mirrored.Dir)
}
