package mail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// Whoever signs in writes what a browser says of itself: nothing of that is repeated.
func TestNewBrowser_NamesBrowsersByWhatIsKnown(t *testing.T) {
	t.Parallel()
	for agent, name := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0":            "Edge on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36":                         "Chrome on Android",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                           "Firefox on Linux",
		"Your account is blocked, call 555-0100": "another browser on another system",
	} {
		c := newBrowser(person.LetterDetail{Agent: agent, Address: "203.0.113.7"}, "When: now", "https://shop.example")
		assert.Contains(t, c.text(), "Browser: "+name+"\nNetwork address: 203.0.113.7\n")
		assert.NotContains(t, c.text(), "555-0100")
		assert.Contains(t, c.text(), "https://shop.example/recover\n")
	}
}

// Letters come in our name, so no name that a seller chose becomes a link in them.
func TestOfAccount_ShowsNamesThatNoMailProgramLinks(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]string{
		"CI":                                  "CI",
		"Win a prize at https://evil.example": "Win a prize at https[:]/ /evil[.]example",
		"see www.evil.example/x now":          "see www[.]evil[.]example/x now",
		"evil。example":                        "evil[.]example",
		"mailto:a@evil.example":               "mailto[:]a[at]evil[.]example",
		"two\r\nlines":                        "two lines",
		strings.Repeat("ö", longestName+1):    strings.Repeat("ö", longestName) + "…",
	} {
		for kind, detail := range map[tenant.LetterKind]person.LetterDetail{
			person.LetterTokenMade: {Token: name}, person.LetterOwnerChanged: {Member: name, Owns: true}, tenant.LetterWebhookFailing: {Host: name},
		} {
			c, _ := ofAccount(kind, detail, "https://shop.example")
			assert.Contains(t, c.text(), ": "+shown+"\n", kind)
			assert.NotContains(t, c.subject, "evil", kind)
		}
	}
}
