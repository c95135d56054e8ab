package browser

import (
	"os"
	"path/filepath"
)

// Draws reports whether pages are to be drawn: a folder stands in TILLWRIGHT_SCREENSHOTS.
func Draws() bool { return os.Getenv("TILLWRIGHT_SCREENSHOTS") != "" }

// Draw draws the page that is shown into the folder in TILLWRIGHT_SCREENSHOTS. It does so on a phone and on a desk, in the light and in the dark.
// Without a folder it does nothing.
func (p *Page) Draw(name string) {
	p.t.Helper()
	if !Draws() {
		return
	}
	file := filepath.Join(os.Getenv("TILLWRIGHT_SCREENSHOTS"), name)
	for _, scheme := range []string{"light", "dark"} {
		p.Scheme(scheme)
		p.Wait("document.getAnimations().length === 0")
		p.Look(file+"-360-"+scheme+".png", 360)
		p.Look(file+"-1440-"+scheme+".png", 1440)
	}
}
