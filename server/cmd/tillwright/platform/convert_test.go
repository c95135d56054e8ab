package platform

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMoney_IsInTheMinorUnitOfItsCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, currency, want string }{
		{"12.50", "usd", "1250"}, {"12,5", "eur", "1250"}, {"12", "usd", "1200"}, {"0.00", "usd", "0"}, {"1900", "jpy", "1900"}, {"1900.00", "jpy", "1900"},
		{"1.234", "kwd", "1234"}, {"1.5", "kwd", "1500"}, {"1.500", "usd", "150"}, {"", "usd", ""},
	} {
		got, problem := money([]string{c.text}, c.currency)
		assert.Equal(t, c.want, got, c.text)
		assert.Empty(t, problem, c.text)
	}
	for text, currency := range map[string]string{"1.005": "usd", "0.5": "jpy", "1,234.50": "usd", "$5": "usd", "-1": "usd", "1e3": "usd", "12.": "usd", "99999999999999": "usd"} {
		_, problem := money([]string{text}, currency)
		assert.Contains(t, problem, text)
	}
}

func TestMoment_IsReadInTheFormsOfThePlatforms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-01-02T03:04:05.678Z": "2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05+02:00": "2024-01-02T01:04:05Z", "2024-01-02 03:04:05 UTC": "2024-01-02T03:04:05Z",
		"2024-01-02 03:04:05 +0200": "2024-01-02T01:04:05Z", "2024-01-02 03:04:05": "2024-01-02T03:04:05Z", "2024-01-02": "2024-01-02T00:00:00Z", "": "",
	} {
		got, problem := moment([]string{text}, "")
		assert.Equal(t, want, got)
		assert.Empty(t, problem)
	}
	for _, text := range []string{"02/01/2024", "2024-13-01", "yesterday", "2024-01-02 03:04:05 XYZ"} {
		_, problem := moment([]string{text}, "")
		assert.Contains(t, problem, text, "it may be read in two ways, or in none")
	}
}

func TestWords_AreThoseBetweenCommas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "vip": `["vip"]`, "vip, early,vip": `["vip","early"]`, `"VIP","Blog, news"`: `["VIP","Blog, news"]`, `5" nails, glue`: `["5\" nails","glue"]`, " , ": "",
	} {
		got, _ := words([]string{text}, "")
		assert.Equal(t, want, got, text)
	}
}

func TestCountry_IsKnownByItsCodeAndItsName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"DE": "DE", "Germany": "DE", "united states": "US", "United Kingdom": "GB", "Freedonia": "", "": "", "Europe": "", "ZZ": ""} {
		got, _ := country([]string{text}, "")
		assert.Equal(t, want, got, text)
	}
}

func TestUnquoted_IsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"'4711": "4711", "'+49": "+49", "'=1": "=1", "'n Sync": "'n Sync", "'": "'", "O'Hara": "O'Hara", "": ""} {
		got, _ := unquoted([]string{text}, "")
		assert.Equal(t, want, got, text)
	}
}

func TestMarkdown_SaysWhatTheDescriptionSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain * text":                  "plain * text",
		"<p>One</p><p>Two<br>three</p>": "One\n\nTwo\nthree",
		"<h2>Head</h2>text":             "## Head\n\ntext",
		"a &lt;b&gt; *c* <i>d</i>":      `a \<b> \*c\* *d*`,
		`<a href="javascript:alert(1)">x</a> <a href="https://example.com/a(b)">y</a> <a>z</a>`: "x y z",
		"<script>alert(1)</script><style>p{}</style><img src=x onerror=alert(1)>left":           "left",
		"<ul><li>a<li>b</ul>":                 "- a\n- b",
		"<a href='https://example.com/'>open": "[open](https://example.com/)",
		"a < b & c":                           `a \< b & c`,
	} {
		got, problem := markdown([]string{text}, "")
		assert.Equal(t, want, got)
		assert.Empty(t, problem)
	}
}
