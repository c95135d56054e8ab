package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestMemo_IsKeptChangedAndDeleted(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Memo](t)(c.Memos.Create(background, &sdk.MemoCreate{Text: "Ask Ada."}))
		ok[*sdk.Memo](t)(c.Memos.Update(background, made.ID, &sdk.MemoUpdate{Pinned: new(true)}))
		kept := ok[*sdk.Memo](t)(c.Memos.Get(background, made.ID))
		assert.Equal(t, "Ask Ada.", kept.Text)
		assert.True(t, kept.Pinned)
		list := ok[*sdk.MemoList](t)(c.Memos.List(background, nil))
		require.Len(t, list.Data, 1)
		assert.Equal(t, made.ID, list.Data[0].ID)
		ok[*sdk.Deleted](t)(c.Memos.Delete(background, made.ID))
		_, err := c.Memos.Get(background, made.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestCreateMemo_RefusesWhiteSpace(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		_, err := c.Memos.Create(background, &sdk.MemoCreate{Text: "  "})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "text")
	})
}
