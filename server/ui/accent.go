package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The grounds on which an accent is written: the sheet's paper and surface, in the light and in the dark.
var grounds = [2][2]light{{oklch(.985, .004, 85), {1, 1, 1}}, {oklch(.18, .006, 75), oklch(.22, .007, 75)}}

const (
	accentContrast = 4.6 // of an accent with its grounds
	onAccent       = 4.5 // of an accent with the text on it
	accentChroma   = .2  // at most, so that nothing glares
)

// Shade is a colour that can be read on a page, and the colour of what stands on it. The third is a ground for ordinary text.
type Shade struct{ Accent, On, Soft string }

// Accent returns a style that makes a seller's colour, such as #1a73e8, the accent of the sheet: see Shades. A text that is no such colour has no style.
func Accent(colour string) string {
	inLight, inDark, ok := Shades(colour)
	if !ok {
		return ""
	}
	return fmt.Sprintf(":root { --accent: light-dark(%s, %s); --on-accent: light-dark(%s, %s); --accent-soft: light-dark(%s, %s); }", inLight.Accent, inDark.Accent, inLight.On, inDark.On, inLight.Soft, inDark.Soft)
}

// Shades returns a seller's colour, such as #1a73e8, for a page in the light and in the dark. Its lightness is moved until it can be read on the page, and
// text on it. A text that is no such colour has none.
func Shades(colour string) (inLight, inDark Shade, ok bool) {
	value, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 || colour[0] != '#' {
		return Shade{}, Shade{}, false
	}
	var channels light
	for i, shift := range []int{16, 8, 0} {
		channels[i] = linear(float64(value>>shift&255) / 255)
	}
	lightness, chroma, hue := channels.oklch()
	chroma = min(chroma, accentChroma)
	var shades [2]Shade
	for i, text := range []light{{1, 1, 1}, {}} {
		accent := legible(lightness, chroma, hue, grounds[i], text, i == 1)
		shades[i] = Shade{accent.hex(), text.hex(), within([2]float64{.95, .3}[i], min(chroma, .03), hue).hex()}
	}
	return shades[0], shades[1], true
}

// legible returns the colour of a hue whose lightness is next to the wanted one. It can be read on the grounds and below the text. In the dark that
// is a lighter one. There always is one: white and black are.
func legible(lightness, chroma, hue float64, grounds [2]light, text light, isDark bool) light {
	step := -.005
	if isDark {
		step = .005
	}
	for l := lightness; ; l += step {
		c := within(min(max(l, 0), 1), chroma, hue)
		if contrast(c, grounds[0]) >= accentContrast && contrast(c, grounds[1]) >= accentContrast && contrast(c, text) >= onAccent || l < 0 || l > 1 {
			return c
		}
	}
}

// within returns the colour with these parts as a screen shows it: with as much of its chroma as there is.
func within(lightness, chroma, hue float64) light {
	for ; chroma > 0; chroma -= .002 {
		if c := oklch(lightness, chroma, hue); c.isShown() {
			return c.rounded()
		}
	}
	return oklch(lightness, 0, hue).rounded()
}

// light is a colour in linear light, each part from 0 to 1 if a screen can show it.
type light [3]float64

// oklch returns a colour from its lightness, chroma and hue: https://bottosson.github.io/posts/oklab/
func oklch(lightness, chroma, hue float64) light {
	a, b := chroma*math.Cos(hue*math.Pi/180), chroma*math.Sin(hue*math.Pi/180)
	l := math.Pow(lightness+0.3963377774*a+0.2158037573*b, 3)
	m := math.Pow(lightness-0.1055613458*a-0.0638541728*b, 3)
	s := math.Pow(lightness-0.0894841775*a-1.2914855480*b, 3)
	return light{
		4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s,
	}
}

// oklch returns the lightness, chroma and hue of a colour.
func (c light) oklch() (lightness, chroma, hue float64) {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	a := 1.9779984951*l - 2.4285922050*m + 0.4505937099*s
	b := 0.0259040371*l + 0.7827717662*m - 0.8086757660*s
	return 0.2104542553*l + 0.7936177850*m - 0.0040720468*s, math.Hypot(a, b), math.Atan2(b, a) * 180 / math.Pi
}

func (c light) isShown() bool {
	return min(c[0], c[1], c[2]) > -.0001 && max(c[0], c[1], c[2]) < 1.0001
}

// linear returns a part of a colour of sRGB in linear light.
func linear(part float64) float64 {
	if part <= .04045 {
		return part / 12.92
	}
	return math.Pow((part+.055)/1.055, 2.4)
}

// bytes returns the parts of the colour as a screen is told them.
func (c light) bytes() (parts [3]uint8) {
	for i, part := range c {
		part = min(max(part, 0), 1)
		if part <= .0031308 {
			part *= 12.92
		} else {
			part = 1.055*math.Pow(part, 1/2.4) - .055
		}
		parts[i] = uint8(math.Round(part * 255))
	}
	return parts
}

// rounded returns the colour that a screen shows for this one.
func (c light) rounded() light {
	parts := c.bytes()
	return light{linear(float64(parts[0]) / 255), linear(float64(parts[1]) / 255), linear(float64(parts[2]) / 255)}
}

func (c light) hex() string {
	parts := c.bytes()
	return fmt.Sprintf("#%02x%02x%02x", parts[0], parts[1], parts[2])
}

// contrast returns the contrast of two colours as WCAG 2.2 defines it, from 1 to 21.
func contrast(a, b light) float64 {
	luminance := func(c light) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}
