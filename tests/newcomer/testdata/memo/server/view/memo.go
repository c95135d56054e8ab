package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// Memo renders a memo.
func Memo(m *store.Memo) api.Memo {
	return api.Memo{ID: m.ID, Object: "memo", Text: m.Text, Pinned: m.Pinned, CreatedAt: at(m.CreatedAt), UpdatedAt: at(m.UpdatedAt)}
}

// NewMemo reads the body of a create.
func NewMemo(b *api.MemoCreate) store.Memo {
	return store.Memo{Text: b.Text, Pinned: value(b.Pinned)}
}

// MemoChange reads the body of a PATCH.
func MemoChange(b *api.MemoUpdate) func(*store.Memo) {
	return func(m *store.Memo) {
		set(&m.Text, b.Text)
		set(&m.Pinned, b.Pinned)
	}
}
