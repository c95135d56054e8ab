package markdown

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness/effort"
)

// TestRender_OfWhatIsHostileCostsFiveTimesProseAtMost renders as much as a post may hold of what people try, and prose of that length. What they take of
// the processor is looked at in make soak alone; anywhere else it is noted.
func TestRender_OfWhatIsHostileCostsFiveTimesProseAtMost(t *testing.T) {
	const size, most = 200_000, 5
	times := 1
	if os.Getenv("TILLWRIGHT_SOAK") != "" {
		times = 20 // the system counts in steps of milliseconds
	}
	cost := func(source string) time.Duration {
		return effort.Of(func() {
			for range times {
				Render(source)
			}
		})
	}
	prose := cost(fill(strings.Repeat("Some plain words that stand in a sentence for people. ", 5)+"\n\n", size))
	for name, source := range map[string]string{
		"scripts":                     fill("<script>alert(1)</script>\n\n", size),
		"scripts in one line":         fill("<script>alert(1)</script> ", size),
		"javascript":                  fill("[a](javascript:alert(1))\n\n", size),
		"javascript in one paragraph": fill("[a](javascript:alert(1)) ", size),
		"img onerror":                 fill("<img src=x onerror=alert(1)>\n\n", size),
		"raw HTML":                    fill("<div onclick=x><b>a</b></div>\n", size),
		"nested lists":                hostile["list nested"](size),
		"nested numbered lists":       hostile["list nested num"](size),
		"lists in one line":           hostile["list one line"](size),
		"lists and lines below":       hostile["list one line lazy"](size),
		"brackets":                    hostile["brackets"](size),
		"brackets that close":         hostile["brackets2"](size),
		"brackets, many paragraphs":   hostile["brackets, many paragraphs"](size),
		"links that do not close":     hostile["brackets a"](size),
		"links of many brackets":      hostile["link parens2"](size),
		"images in links":             hostile["brackets b"](size),
		"links in links":              hostile["links nest"](size),
		"images in images":            hostile["images in images"](size),
	} {
		took := cost(source)
		t.Logf("%s: %.1f times prose", name, float64(took)/float64(max(prose, time.Microsecond)))
		if times > 1 && took > most*prose {
			t.Errorf("%s costs %s, and prose %s", name, took, prose)
		}
	}
}
