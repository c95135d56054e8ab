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
// separates may be the beginning of an address instead, as in "grace.hop". Whether a row has the words is asked of the row itself: of
// filter_entries, it would take all entries with a word. All are asked at once, because a row is split into its words for each question, and
// only of a row in whose text they stand anywhere, which is known many times as fast.
func (f *Filter) search(d *DB, table string, k core.Kind, q string, searched []string) {
	if id, ok := core.ParseID(k, q); ok {
		f.Only("id", id)
		return
	}
	const begins = "MAX(CASE WHEN substr(value, 1, length(CAST(? AS text))) = ? THEN 1 ELSE 0 END)"
	var stands, has []string
	var standing, args []any
	asked := map[[2]string]bool{} // a word, and the address that may begin with it instead
	ask := func(word, address string) (anew bool) {
		if asked[[2]string{word, address}] {
			return false
		}
		asked[[2]string{word, address}] = true
		stands, standing = append(stands, d.stands(searched)), append(standing, word)
		if has, args = append(has, begins+" = 1"), append(args, word, word); word != address {
			has[len(has)-1], args = "("+begins+" = 1 OR "+begins+" = 1)", append(args, address, address)
		}
		return true
	}
	for _, part := range core.Parts(q) {
		first := part.Words[0] // an address that begins with the part begins with this
		if ask(first, first) {
			words := "list = '" + table + "' AND name = 'word' AND "
			f.conditions = append(f.conditions, condition{
				text: "1 = 1", lead: leadSpread, table: "filter_entries", column: "object_id",
				where: words + "value >= ? AND value < ?", leading: []any{first, first + string(utf8.MaxRune)},
				ordered: &condition{lead: leadListed, table: "filter_entries", column: "object_id", where: words + "value = ?", args: []any{first}},
			})
		}
		for _, word := range part.Words[1:] {
			ask(word, part.Text)
		}
	}
	if has == nil {
		f.Only("id", "") // nothing but signs is a part of no word
		return
	}
	text := strings.Join(stands, " AND ") + " AND (SELECT CASE WHEN " + strings.Join(has, " AND ") + " THEN 1 END FROM " + d.wordsOf(searched) + ") = 1"
	args = append(standing, args...)
	if only := &f.conditions[len(f.conditions)-1]; len(has) == 1 { // what begins with the word has it: nothing is to be asked of the rows that its entries lead to
		only.text, only.args = text, args
		return
	}
	f.And(text, args...)
}

// wordsOf returns SQL for a table with one column, value, that holds the words of some columns.
func (d *DB) wordsOf(columns []string) string {
	list := strings.Join(columns, ", ")
	if d.Engine == core.SQLite {
		return "json_each(filter_words(" + list + "))"
	}
	return "filter_words(concat_ws(' ', " + list + ")) AS value"
}

// stands returns SQL for whether a text, which is the one argument, stands in some columns in lower case.
func (d *DB) stands(columns []string) string {
	find := "strpos"
	if d.Engine == core.SQLite {
		find = "instr"
	}
	return find + "(lower(concat_ws(' ', " + strings.Join(columns, ", ") + ")), ?) > 0"
}
