package caller_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/server/caller"
)

func TestOf_IsNeverNil(t *testing.T) {
	t.Parallel()
	assert.Equal(t, &caller.Caller{}, caller.Of(context.Background()))
}

func TestWith_SeesWhatIsLearnedLater(t *testing.T) {
	t.Parallel()
	c := &caller.Caller{RequestID: "req_1"}
	ctx := caller.With(context.Background(), c)
	c.Account = "acct_1"
	assert.Equal(t, "acct_1", caller.Account(ctx))
	assert.Equal(t, "req_1", caller.RequestID(ctx))
}

func TestMay(t *testing.T) {
	t.Parallel()
	everything := &caller.Caller{}
	assert.True(t, everything.May("products:write"))
	reader := &caller.Caller{Scopes: []string{"orders:read", "products:read"}}
	assert.True(t, reader.May("products:read"))
	assert.True(t, reader.May(""), "an operation without a scope is open to every key")
	assert.False(t, reader.May("products:write"))
}
