package pages

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
)

// drawn is a page with its data.
type drawn struct {
	name, template string
	frame          ui.Frame
	data           any
}

// draw returns the HTML of a page.
func draw(t *testing.T, templates *ui.Templates, d drawn) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, templates.Write(&page, d.template, d.frame, d.data), d.name)
	return page.String()
}

func usual(text string) string { return text }

// painted returns a picture as PNG, which grows lighter to its end.
func painted(t *testing.T, width, height int) string {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(96 + 128*(i%width)/width)
	}
	var file strings.Builder
	require.NoError(t, png.Encode(&file, picture))
	return file.String()
}

func ours(t *testing.T) *ui.Templates {
	t.Helper()
	templates, err := parse(locale.English, scripts{})
	require.NoError(t, err)
	return templates
}
