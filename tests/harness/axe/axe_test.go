package axe

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness/browser"
)

// told keeps what a test is told instead of failing.
type told struct {
	testing.TB
	problems []string
}

func (t *told) Errorf(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

func TestCheck_FindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	window := browser.Open(t, nil)
	window.Go(`data:text/html,<html lang="en"><title>a</title><main><h1>a</h1><img src="x"><p style="color:%23aaa;background:%23fff">Hardly to be read</p></main>`)
	window.Wait(`document.readyState === "complete" && document.querySelector("img")`)
	seen := &told{TB: t}
	Check(seen, window, "page")
	if assert.Len(t, seen.problems, 2) {
		assert.Contains(t, seen.problems[0]+seen.problems[1], "image-alt")
		assert.Contains(t, seen.problems[0]+seen.problems[1], "color-contrast")
	}
	seen.problems = nil
	CheckColours(seen, window, "page")
	if assert.Len(t, seen.problems, 1) {
		assert.Contains(t, seen.problems[0], "color-contrast")
	}
}
