package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

func TestUnknownError_HidesAnAnswerInside(t *testing.T) {
	t.Parallel()
	answer := core.Invalid("amount", "No.")
	err := fmt.Errorf("confirm: %w", core.NewUnknownError("charge", errors.Join(answer, errors.New("x"))))
	require.Equal(t, core.Unknown, core.OutcomeOf(err), "the key stays taken")
	var found *core.Error
	require.False(t, errors.As(err, &found), "it is nobody's answer")
	require.EqualError(t, err, "confirm: charge: No.\nx")

	away := &core.UnavailableError{Cause: errors.New("gone")}
	require.True(t, db.IsMarked(core.NewUnknownError("charge", away)), "but that the database is away shows")
	silent := &core.Error{Code: "api_error", Outcome: core.Unknown}
	require.ErrorAs(t, fmt.Errorf("%w (%w)", core.NewUnknownError("ask", answer), silent), &found)
	require.Same(t, silent, found, "what stands beside it is the answer")
}

// TestPrice_ABrokenRuleIsOurs: only an amount that is too large is the buyer's to mend.
func TestPrice_ABrokenRuleIsOurs(t *testing.T) {
	t.Parallel()
	var refused *core.Error
	_, err := lineitem.Price([]lineitem.Item{{UnitAmount: 1 << 62, Quantity: 1 << 62}})
	require.ErrorAs(t, err, &refused)
	broken := errors.New("the rules are broken")
	require.ErrorIs(t, lineitem.PriceError("line_items", "an order", broken, pricing.Amounts{}), broken)
	require.NotErrorAs(t, lineitem.PriceError("line_items", "an order", broken, pricing.Amounts{}), &refused)
	require.ErrorAs(t, lineitem.PriceError("line_items", "an order", pricing.ErrRange, pricing.Amounts{}), &refused)
	require.ErrorAs(t, lineitem.PriceError("line_items", "an order", nil, pricing.Amounts{Total: core.MaxAmount + 1}), &refused)
	require.ErrorAs(t, lineitem.PriceError("line_items", "an order", nil, pricing.Amounts{Subtotal: core.MaxAmount + 1, Total: 1}), &refused)
	require.NoError(t, lineitem.PriceError("line_items", "an order", nil, pricing.Amounts{Subtotal: core.MaxAmount, Total: core.MaxAmount}))
}
