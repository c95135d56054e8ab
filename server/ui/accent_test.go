package ui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a seller likes may be yellow on white. Whatever it is, what is written in it and on it can be read.
func TestAccent_CanBeReadWhateverItIs(t *testing.T) {
	t.Parallel()
	sheet := colours(t)
	sent := []string{"#000000", "#ffffff", "#ffff00", "#0000ff", "#00ff00", "#ff0000", "#808080", "#1a73e8"}
	for range 3000 {
		sent = append(sent, fmt.Sprintf("#%06x", rand.IntN(1<<24)))
	}
	for _, colour := range sent {
		parts := regexp.MustCompile(`#[0-9a-f]{6}`).FindAllString(Accent(colour), -1)
		require.Len(t, parts, 6, colour)
		var read []light
		for _, part := range parts {
			value, err := strconv.ParseUint(part[1:], 16, 32)
			require.NoError(t, err)
			read = append(read, light{linear(float64(value>>16) / 255), linear(float64(value>>8&255) / 255), linear(float64(value&255) / 255)})
		}
		for i := range 2 {
			for _, ground := range []string{"paper", "surface"} {
				assert.GreaterOrEqual(t, contrast(read[i], sheet[ground][i]), 4.5, "%s on %s", colour, ground)
			}
			assert.GreaterOrEqual(t, contrast(read[i], read[i+2]), 4.5, "text on %s", colour)
			assert.GreaterOrEqual(t, contrast(sheet["ink"][i], read[i+4]), 4.5, "text on soft %s", colour)
		}
	}
}

func TestAccent_LeavesWhatCanBeReadAlone(t *testing.T) {
	t.Parallel()
	assert.Contains(t, Accent("#1858b8"), "light-dark(#1858b8,")
	for _, wrong := range []string{"", "red", "#fff", "#12345g", "1234567", "#1234567", "#+12345", "#12;34}"} {
		assert.Empty(t, Accent(wrong), wrong)
	}
}
