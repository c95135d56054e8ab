package db

import (
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
)

// Entry adds that an object of the list in a table has an entry with a name and a value: "tag", or "metadata." and a key.
func (f *Filter) Entry(table, name, value string) {
	f.Listed(table, "filter_entries", "object_id", "list = '"+table+"' AND name = ? AND value = ?", name, value)
}

// search adds what q asks for: the object with that id, or each of its words as the beginning of one of the object's. Words that no space
// separates may be the beginning of an address instead, as in "grace.hop". Whether a row has a word is asked of the row itself: of
// filter_entries, it would take all entries with that word.
func (f *Filter) search(d *DB, table string, k core.Kind, q string, searched []string) {
	if id, ok := core.ParseID(k, q); ok {
		f.Only("id", id)
		return
	}
	asked := core.Parts(q)
	has := "EXISTS (SELECT 1 FROM " + d.wordsOf(searched) + " WHERE substr(value, 1, length(CAST(? AS text))) = ?)"
	for _, part := range asked {
		first := part.Words[0] // an address that begins with the part begins with this
		f.conditions = append(f.conditions, condition{
			text: has, args: []any{first, first}, lead: leadSpread, table: "filter_entries", column: "object_id",
			where: "list = '" + table + "' AND name = 'word' AND value >= ? AND value < ?", leading: []any{first, first + string(utf8.MaxRune)},
		})
		for _, word := range part.Words[1:] {
			f.And("("+has+" OR "+has+")", word, word, part.Text, part.Text)
		}
	}
	if len(asked) == 0 {
		f.Only("id", "") // nothing but signs is a part of no word
	}
}

// wordsOf returns SQL for a table with one column, value, that holds the words of some columns.
func (d *DB) wordsOf(columns []string) string {
	list := strings.Join(columns, ", ")
	if d.Engine == core.SQLite {
		return "json_each(filter_words(" + list + "))"
	}
	return "filter_words(concat_ws(' ', " + list + ")) AS value"
}
