package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestMemo_IsKeptChangedAndDeleted(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Memo](t)(c.Memos.Create(background, &sdk.MemoCreate{Text: "Ask Ada."}))
		ok[*sdk.Memo](t)(c.Memos.Update(background, made.ID, &sdk.MemoUpdate{Pinned: new(true)}))
		if kept := ok[*sdk.Memo](t)(c.Memos.Get(background, made.ID)); kept.Text != "Ask Ada." || !kept.Pinned {
			t.Errorf("it is kept as %+v", kept)
		}
		list := ok[*sdk.MemoList](t)(c.Memos.List(background, nil))
		if len(list.Data) != 1 || list.Data[0].ID != made.ID {
			t.Errorf("the list holds %+v", list.Data)
		}
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
