package payments_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
)

// named is a provider that sends notifications.
type named struct{ far }

func (*named) Name() string { return "named" }

func (*named) HasSignature(http.Header) bool { return true }

func (*named) ParseWebhook(context.Context, http.Header, []byte) (payments.Event, error) {
	return payments.Event{ID: "evt_1"}, nil
}

// quiet is a provider that sends none.
type quiet struct{ far }

func (*quiet) Name() string { return "quiet" }

func TestRegistry_GivesProvidersByName(t *testing.T) {
	t.Parallel()
	n := &named{}
	r := payments.NewRegistry(&quiet{}, n)
	assert.Equal(t, []string{"quiet", "named"}, r.Names())

	p, ok := r.Provider("named")
	require.True(t, ok)
	_, err := p.PrepareCharge(t.Context(), payments.ChargeInput{})
	require.NoError(t, err)
	assert.True(t, n.bounded, "it is guarded")

	notifier, ok := r.Notifier("named")
	require.True(t, ok)
	event, err := notifier.ParseWebhook(t.Context(), nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "evt_1", event.ID)
	_, ok = r.Notifier("quiet")
	assert.False(t, ok)
	_, ok = r.Provider("other")
	assert.False(t, ok)
}
