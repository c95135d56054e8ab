package billing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// oddities is what stands in the place of each value of a notification in turn.
var oddities = []any{
	nil, "", "unheard_of", "\x00", "a\u2028\ufffd", "pi_9", -1, 1 << 60, 1.5, true, []any{}, []any{nil}, map[string]any{}, map[string]any{"object": "refund"},
}

// spoilt returns the document with each of its values missing and replaced, one at a time.
func spoilt(t *testing.T, body []byte) [][]byte {
	t.Helper()
	var document any
	require.NoError(t, json.Unmarshal(body, &document))
	var all [][]byte
	write := func() {
		text, err := json.Marshal(document)
		require.NoError(t, err)
		all = append(all, text)
	}
	var visit func(any)
	visit = func(at any) {
		object, ok := at.(map[string]any)
		if !ok {
			return
		}
		for name, was := range object {
			visit(was)
			delete(object, name)
			write()
			for _, odd := range oddities {
				object[name] = odd
				write()
			}
			object[name] = was
		}
	}
	visit(document)
	return all
}

// Whatever stands in a notification that is rightly signed, it is taken, left aside or refused. None is a failure of ours, and
// none does what was not asked for.
func TestNotify_NothingThatIsSignedIsAFailure(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		order := w.bought("pm_card_visa")
		_, err := w.refund(order.ID, 500)
		require.NoError(t, err)
		_, err = w.pay(w.checkout(one(w.handbook())).ID, "pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		_, err = w.pay(w.checkout(one(w.handbook())).ID, "pm_card_slow")
		require.NoError(t, err)
		_, _ = w.pay(w.checkout(one(w.handbook())).ID, "pm_card_chargeDeclined")
		kinds, outcomes := map[string]int{}, map[string]int{}
		for _, e := range fake.Events() {
			var kind struct{ Type string }
			require.NoError(t, json.Unmarshal(e.Body, &kind))
			if kinds[kind.Type]++; kinds[kind.Type] > 1 {
				continue
			}
			bodies := spoilt(t, e.Body)
			rand.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
			for _, body := range bodies[:min(len(bodies), 300)] {
				err := w.notify(fake, stripefake.Event{ID: e.ID, Body: body})
				var refused *core.Error
				switch {
				case err == nil:
					outcomes["taken"]++
				case errors.Is(err, payments.ErrForged), errors.Is(err, payments.ErrUnusable), errors.Is(err, payments.ErrUnknownStatus):
					outcomes[fmt.Sprint(errors.Is(err, payments.ErrForged), errors.Is(err, payments.ErrUnusable))]++
				case errors.As(err, &refused):
					outcomes[string(refused.Code)]++
				default:
					t.Errorf("%v\n%s", err, body)
				}
			}
		}
		t.Log(kinds, outcomes)
		require.GreaterOrEqual(t, len(kinds), 4)
		require.GreaterOrEqual(t, len(outcomes), 3)
	})
}
