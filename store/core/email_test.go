package core

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestEmailKey_OfOneAddressIsOne writes an address in all the ways that mean the same.
func TestEmailKey_OfOneAddressIsOne(t *testing.T) {
	t.Parallel()
	for key, ways := range map[string][]string{
		"ada@example.com":               {"ada@example.com", "Ada@Example.COM", "ada@ＥＸＡＭＰＬＥ.com", "ada@example。com"},
		"σίσυφος@example.com":           {"σίσυφος@example.com", "ΣΊΣΥΦΟΣ@EXAMPLE.COM", "σίσυφος@example.com", "ΣΊΣΥΦΟΣ@Example.com"},
		"josé@example.com":              {"josé@example.com", "josé@example.com", "JOSÉ@example.com", "JOSÉ@EXAMPLE.com"},
		"straße@example.com":            {"straße@example.com", "Straße@Example.com", "STRAẞE@example.com"},
		"strasse@example.com":           {"STRASSE@example.com", "Strasse@example.com"},
		"ada@xn--mnchen-3ya.example":    {"ada@münchen.example", "ADA@MÜNCHEN.EXAMPLE", "ada@münchen.example", "ada@xn--mnchen-3ya.example", "ADA@XN--MNCHEN-3YA.Example"},
		"ada@xn--strae-oqa.example":     {"ada@straße.example", "ada@xn--strae-oqa.example"},
		"ada@strasse.example":           {"ada@strasse.example", "ada@STRASSE.example"},
		"josé@xn--caf-dma.example":      {"josé@café.example", "JOSÉ@xn--caf-dma.example"},
		"kelvin@example.com":            {"Kelvin@example.com"},
		"no address":                    {"No Address"},
		"ada@xn--zzzzzzzzzzzz.example":  {"ada@XN--zzzzzzzzzzzz.example"},
		"ada@-\u00fc.example":           {"Ada@-u\u0308.EXAMPLE"},
		"ada+one.two@mail.example.com":  {"Ada+One.Two@Mail.Example.com"},
		"ada@r3---sn-apo3q.example.com": {"ada@R3---sn-apo3q.example.com"},
	} {
		for _, way := range ways {
			require.Equal(t, key, EmailKey(way), "%+q", way)
			require.True(t, SameEmail(way, key))
		}
	}
}

// address draws texts around an @: of ASCII, of any letters, and of any characters at all.
func address(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9.+_-]{1,12}`), rapid.StringOfN(rapid.RuneFrom(nil, unicode.L, unicode.M, unicode.Nd), 1, 12, -1),
		rapid.StringMatching(`[xX][nN]--[a-z0-9-]{1,10}`), rapid.StringOfN(rapid.RuneFrom([]rune("aé"), unicode.Mn), 1, 80, -1), rapid.String())
	return part.Draw(t, "local") + "@" + part.Draw(t, "label") + rapid.SampledFrom([]string{"", ".", "。"}).Draw(t, "dot") + part.Draw(t, "top")
}

func TestEmailKey_OfAKeyIsTheKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		email := address(t)
		key := EmailKey(email)
		require.Equal(t, key, EmailKey(key), "%+q", email)
	})
	for r := rune(0); r <= unicode.MaxRune; r++ {
		key := EmailKey("a" + string(r) + "@x" + string(r) + ".example")
		require.Equal(t, key, EmailKey(key), "%U", r)
	}
}

// TestEmailKey_OfSmallLettersIsTheirOwn holds that two addresses in small letters, which may be two mailboxes, are never taken for one.
func TestEmailKey_OfSmallLettersIsTheirOwn(t *testing.T) {
	t.Parallel()
	for _, local := range []string{"straße", "strasse", "σίσυφος", "σίσυφοσ", "ſ", "s", "ﬁ", "fi", "µ", "μ", "ı", "i", "ŉ", "ʼn"} {
		require.Equal(t, local+"@example.com", EmailKey(local+"@example.com"), "%+q", local)
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if local := norm.NFC.String("a" + string(r)); unicode.IsLower(r) {
			require.Equal(t, local+"@example.com", EmailKey(local+"@example.com"), "%U", r)
		}
	}
}

// TestEmailKey_KnowsNoCase leaves out the capital of the Turkish i, and small letters that share their capital with others. Of texts it leaves out
// the mark of an iota below, whose capital is a letter beside the others. It also leaves out sigma, whose small letter depends on where it stands.
func TestEmailKey_KnowsNoCase(t *testing.T) {
	t.Parallel()
	for r := rune('A'); r <= unicode.MaxRune; r++ {
		if small := unicode.ToLower(r); r != 'İ' && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S) {
			require.Equal(t, EmailKey("a"+string(small)+"b@example.com"), EmailKey("A"+string(r)+"B@Example.com"), "%U", r)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom(nil, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Mn), 1, 12, -1)
		local := strings.Map(func(r rune) rune {
			if small := unicode.ToLower(r); small == unicode.ToLower(unicode.ToUpper(r)) && small != 'i' && small != 'σ' && r != 0x345 {
				return r
			}
			return -1
		}, letters.Draw(t, "local"))
		for _, way := range []string{strings.ToUpper(local), strings.ToLower(local), norm.NFC.String(local), norm.NFD.String(local), norm.NFD.String(strings.ToUpper(local))} {
			require.Equal(t, EmailKey(local+"@example.com"), EmailKey(way+"@EXAMPLE.com"), "%+q %+q", local, way)
		}
	})
}

// TestEmailKey_KnowsADomainInAllItsForms leaves out the letters whose capitals are those of another domain: that of ß is SS, that of ς Σ.
func TestEmailKey_KnowsADomainInAllItsForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		isLabel := func(label string) bool {
			ascii, err := idna.Lookup.ToASCII(label)
			return err == nil && len(ascii) <= labelMost
		}
		label := rapid.StringOfN(rapid.RuneFrom([]rune("abcdefäöüéèñçøåλογστυφабвгдежзиклмн0123456789")), 1, 20, -1).Filter(isLabel).Draw(t, "label")
		ascii, err := idna.Lookup.ToASCII(label)
		require.NoError(t, err)
		for _, way := range []string{label, ascii, strings.ToUpper(label), strings.ToUpper(ascii), norm.NFD.String(label)} {
			email := "ada@" + way + ".example"
			require.Equal(t, "ada@"+ascii+".example", EmailKey(email), way)
			require.Empty(t, EmailProblem(email, "no"))
		}
	})
}

func TestEmailKey_OfASCIIInLowerCaseIsItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		email := rapid.StringMatching(`[a-z0-9.!#$%&'*+/=?^_{|}~-]{1,20}@((xn--)?[a-z0-9-]{1,20}\.){1,3}[a-z]{2,10}`).Draw(t, "email")
		require.Equal(t, email, EmailKey(email))
	})
}

func TestEmailProblem_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for email, want := range map[string]string{
		"ada@example.com": "", "o'hara+x@mail.example.co.uk": "", "σίσυφος@παράδειγμα.example": "", "ada@münchen.example": "", "ada@xn--mnchen-3ya.example": "",
		"ada@r3---sn-apo3q.example.com": "", long + "@example.com": "", "ada@" + long[1:] + ".example": "",
		"": "no", "ada": "no", "@example.com": "no", "ada@@example.com": "no", "Ada <ada@example.com>": "spaces", "a..b@example.com": "no", ".a@example.com": "no", "\xff@example.com": "no",
		"a\u00a0b@example.com": "spaces", "ada@exam\u2003ple.com": "spaces", "ada@example.com ": "spaces",
		"a\u200bb@example.com": "nobody sees", "a\u202eb@example.com": "nobody sees", "ada@exa\u00admple.com": "nobody sees", "a\u0007@example.com": "nobody sees", "a\ufeff@example.com": "nobody sees",
		"ada@-example.com": "hyphen", "ada@example-.com": "hyphen", "ada@xn--a.example": "no domain name", "ada@-ü.example": "no domain name",
		"a" + long + "@example.com": "64 bytes", strings.Repeat("ü", 33) + "@example.com": "64 bytes", "ada@a" + long[1:] + "b.example": "63 characters", "ada@" + strings.Repeat("ü", 60) + ".example": "63 characters",
		"ada@" + strings.Repeat("a234567890.", 24) + "com": "254 bytes",
		"ada@": "dot", "ada@example.com.": "dot", "ada@.example.com": "dot", "ada@example..com": "dot",
		"ada@exa_mple.com": "no domain name", "ada@[127.0.0.1]": "no domain name", "ada@127.0.0.1": "no domain name", "ada@[ipv6:::1]": "no domain name", "ada@mail.localhost": "letters reach",
		"ada@localhost": "letters reach", "ada@LOCALHOST": "letters reach", "ada@com": "letters reach", "ada@exa!mple.com": "no domain name",
	} {
		got := EmailProblem(email, "no")
		if want == "" {
			require.Empty(t, got, "%+q", email)
			continue
		}
		require.Contains(t, got, want, "%+q", email)
		require.False(t, IsEmail(email))
	}
}

func TestAskedEmailProblem_TakesWhatAnyVersionStored(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]string{
		"ada@example.com": "", "ada@corp": "", "ada@LOCALHOST": "", "ada@[127.0.0.1]": "", "ada@exa_mple.com": "", "a\u00a0b@example.com": "", "a\u200bb@example.com": "",
		"": "no", "ada": "no", "@corp": "no", "ada@": "no", "\xff@corp": "no", "ada @corp": "spaces", "ada@corp\nBcc: x@corp": "spaces", "a\x00@corp": "spaces",
	} {
		got := AskedEmailProblem(email, "no")
		require.Equal(t, want == "", got == "", "%+q", email)
		require.Contains(t, got, want, "%+q", email)
	}
}
