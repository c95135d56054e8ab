package ui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	token = regexp.MustCompile(`(?m)^--([a-z0-9-]+): light-dark\((.+)\);$`)
	oklc  = regexp.MustCompile(`oklch\(([0-9.]+) ([0-9.]+) ([0-9.]+)\)|#fff`)
)

// colours returns the colours of the sheet by name: in the light and in the dark scheme.
func colours(t *testing.T) map[string][2]light {
	t.Helper()
	all := map[string][2]light{}
	for _, found := range token.FindAllStringSubmatch(sheet, -1) {
		pair := oklc.FindAllStringSubmatch(found[2], -1)
		require.Len(t, pair, 2, found[1])
		var both [2]light
		for i, parts := range pair {
			both[i] = light{1, 1, 1}
			if parts[0] != "#fff" {
				var numbers [3]float64
				for j := range numbers {
					var err error
					numbers[j], err = strconv.ParseFloat(parts[j+1], 64)
					require.NoError(t, err)
				}
				both[i] = oklch(numbers[0], numbers[1], numbers[2])
			}
			for _, part := range both[i] {
				assert.Greater(t, part, -0.001, "%s is no colour of sRGB", found[1])
				assert.Less(t, part, 1.001, "%s is no colour of sRGB", found[1])
			}
		}
		all[found[1]] = both
	}
	return all
}

// What is written is read by people who see little; what only bounds a control is a third less: WCAG 2.2, 1.4.3 and 1.4.11.
func TestSheet_ItsColoursCanBeToldApart(t *testing.T) {
	t.Parallel()
	all := colours(t)
	grounds := "paper surface sunken"
	for _, pair := range []struct {
		over, grounds string
		light, dark   float64
	}{
		{"ink", grounds, 14.3, 14.6}, {"ink-2", grounds, 7.5, 8.5}, {"ink-3", grounds, 5.3, 6.4}, {"accent", grounds, 6.1, 8.5},
		{"edge", grounds, 3, 3.6}, {"c1", grounds, 3, 3}, {"focus", grounds, 4.2, 9.2}, {"on-accent", "accent", 4.5, 4.5},
		{"good", grounds + " good-soft", 5.6, 6.3}, {"warn", grounds + " warn-soft", 5.6, 6.3}, {"bad", grounds + " bad-soft", 5.6, 6.3},
		{"ink", "good-soft warn-soft bad-soft", 4.5, 4.5},
	} {
		for ground := range strings.FieldsSeq(pair.grounds) {
			over, under := all[pair.over], all[ground]
			require.NotEqual(t, over, under, "%s or %s is not in the sheet", pair.over, ground)
			for i, least := range []float64{pair.light, pair.dark} {
				name := fmt.Sprintf("%s on %s, %s", pair.over, ground, []string{"light", "dark"}[i])
				assert.GreaterOrEqual(t, contrast(over[i], under[i]), least, name)
			}
		}
	}
}

// A colour that only one rule knows cannot be seen to be legible, and a name that nobody defined is no colour.
func TestSheet_UsesItsTokensAlone(t *testing.T) {
	t.Parallel()
	all := sheet + deskSheet
	_, rules, found := strings.Cut(all, "@layer base {")
	require.True(t, found)
	assert.Empty(t, regexp.MustCompile(`#[0-9a-f]{3,8}\b|rgb\(|oklch\(`).FindAllString(rules, -1), "a colour of its own")
	for _, used := range regexp.MustCompile(`var\((--[a-z0-9-]+)\)`).FindAllStringSubmatch(all, -1) {
		assert.True(t, strings.Contains(all, used[1]+":"), "%s is no token", used[1])
	}
	for _, defined := range regexp.MustCompile(`(?:^|[ \n])(--[a-z0-9-]+):`).FindAllStringSubmatch(all, -1) {
		assert.True(t, strings.Contains(all, "var("+defined[1]+")"), "nothing uses %s", defined[1])
	}
	assert.Less(t, len(sheet), 24_000)
	assert.Less(t, len(deskSheet), 12_000)
}
