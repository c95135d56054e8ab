package dashboard

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
)

// Who writes news is asked with the count that is known.
func TestConfirmNews_SaysWhoGetsIt(t *testing.T) {
	t.Parallel()
	for readers, preview := range map[string]*sdk.ProductNewsPreview{
		"0 customers": {}, "1 customer": {Recipients: 1}, "2 customers": {Recipients: 2}, "7+ customers": {Recipients: 7, HasMore: true},
		"1,000+ customers": {Recipients: 1000, HasMore: true}, "those who agreed": {HasMore: true},
	} {
		now := confirmNews(&sdk.ProductNewsCreate{}, preview, "")
		assert.Equal(t, "This letter goes to "+readers+" at once. What was sent cannot be taken back.", now.Text)
		assert.Equal(t, "Send to "+readers, now.Submit)
		then := confirmNews(&sdk.ProductNewsCreate{}, preview, "2026-12-01T10:00")
		assert.Equal(t, "This letter goes to those who agreed by then. Now it would go to "+readers+".", then.Text)
		assert.Equal(t, "Send it then", then.Submit)
	}
}
