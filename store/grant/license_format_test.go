package grant

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
)

func TestNewLicenseText_IsChecked(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		text := newLicenseText()
		require.Regexp(t, regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$`), text)
		require.True(t, sdk.IsLicenseKey(text), text)
		require.False(t, seen[text])
		seen[text] = true
	}
}

func TestNormalLicense_IsTheSameHoweverItIsTyped(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"ABO1L-9", "abo1l9", " a b 0 - 1 i 9 ", "AB01I9"} {
		require.Equal(t, "AB0119", normalLicense(typed), typed)
		require.Equal(t, licenseHash("AB0119"), licenseHash(typed), typed)
	}
	require.NotEqual(t, licenseHash("AB0119"), licenseHash("AB0118"))
}

// FuzzNormalLicense holds that the normal form is one: it does not change any more, and case, spaces and hyphens do not change it.
func FuzzNormalLicense(f *testing.F) {
	for _, seed := range []string{"", "9F3XT-0MBWC-5Z8RA-H4DNE-17QK2", "oil", "ſK ß", "\x00\xff", "----"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		normal := normalLicense(text)
		require.Equal(t, normal, normalLicense(normal))
		require.Equal(t, normal, normalLicense("-"+strings.ReplaceAll(text, "-", " - ")))
		require.LessOrEqual(t, len(displayLicense(text)), licenseGroup)
		var p core.Problems
		if checkLicenseText(text, &p); len(p) == 0 {
			require.Equal(t, normal, normalLicense(strings.ToLower(text)))
			require.GreaterOrEqual(t, len(normal), licenseShortest)
		}
	})
}
