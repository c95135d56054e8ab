package db

import (
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
)

// Entry adds that an object of the list in a table has an entry with a name and a value: "tag", or "metadata." and a key.
func (f *Filter) Entry(table, name, value string) {
	f.Listed(table, "filter_entries", "object_id", "list = '"+table+"' AND name = ? AND value = ?", name, value)
}

// search adds what q asks for: the object with that id, or each of its words as the beginning of one of the object's.
func (f *Filter) search(table string, k core.Kind, q string) {
	if id, ok := core.ParseID(k, q); ok {
		f.Only("id", id)
		return
	}
	asked := core.Words(q)
	for _, word := range asked {
		f.listed(leadSpread, table, "filter_entries", "object_id", "list = '"+table+"' AND name = 'word' AND value >= ? AND value < ?", word, word+string(utf8.MaxRune))
	}
	if len(asked) == 0 {
		f.Only("id", "") // nothing but signs is a part of no word
	}
}
