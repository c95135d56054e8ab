package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/core"
)

// Whatever is wrong with an address is said in every language.
func TestWrongEmail_SaysEachFaultInEachLanguage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for email, fault := range map[string]core.EmailFault{
		"ada@example.com": "", "ada": core.EmailUnlike, "a b@example.com": core.EmailSpaces, "a\u200bb@example.com": core.EmailHidden, "ada@" + strings.Repeat("a234567890.", 24) + "com": core.EmailLong,
		"a" + long + "@example.com": core.EmailLocalLong, "ada@" + long + ".example": core.EmailLabelLong, "ada@example..com": core.EmailDots, "ada@-example.com": core.EmailHyphen, "ada@exa_mple.com": core.EmailDomain,
		"ada@corp": core.EmailUnreachable,
	} {
		assert.Equal(t, fault, core.FaultOfEmail(email), "%+q", email)
		for _, l := range locale.All() {
			said := wrongEmail(l, fault, "error.email")
			assert.Equal(t, fault == "", said == "", "%s: %+q", l.Tag, email)
			assert.NotContains(t, said, "error.email", "%s has no words for %s", l.Tag, fault)
		}
	}
}
