package db

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lib/pq"

	"github.com/tillwright/tillwright/store/core"
)

// Entry adds the condition that an object of the list in a table has an entry with a name and a value. The name is "tag", or "metadata." and a key.
func (f *Filter) Entry(table, name, value string) {
	f.Listed(table, "filter_entries", "object_id", "list = '"+table+"' AND name = ? AND value = ?", name, value)
}

// search adds what q asks for: the object with that id, or each of its words as the beginning of one of the object's. Words that no space
// separates may be the beginning of an address instead, as in "grace.hop". Whether a row has the words is asked of the row itself: of
// filter_entries, it would take all entries with a word. More words than core.MostWords are refused.
func (f *Filter) search(d *DB, table string, k core.Kind, q string, searched []string) {
	if id, ok := core.ParseID(k, q); ok {
		f.Few("id", id)
		return
	}
	parts := core.Parts(q)
	asked := core.AskedBy(parts)
	if len(asked) == 0 {
		f.Few("id", "") // nothing but signs is a part of no word
		return
	}
	if len(asked) > core.MostWords {
		f.refused = tooManyWords(len(asked))
		return
	}
	f.words = len(asked)
	var led []string
	for _, part := range parts {
		first := part.Words[0]
		if slices.Contains(led, first) {
			continue
		}
		led = append(led, first)
		words := "list = '" + table + "' AND name = 'word' AND "
		f.conditions = append(f.conditions, condition{
			text: "1 = 1", lead: leadSpread, table: "filter_entries", column: "object_id",
			where: words + "value >= ? AND value < ?", leading: []any{first, first + string(utf8.MaxRune)},
			ordered: &condition{lead: leadListed, table: "filter_entries", column: "object_id", where: words + "value = ?", args: []any{first}},
		})
	}
	text, args := d.has(searched, asked)
	if only := &f.conditions[len(f.conditions)-1]; len(asked) == 1 { // what begins with the word has it: nothing is to be asked of the rows that its entries lead to
		only.text, only.args = text, args
		return
	}
	f.And(text, args...)
}

// tooManyWords returns the refusal of a q with so many words.
func tooManyWords(words int) *core.Error {
	return &core.Error{Code: core.CodeBadRequest, Param: "q", Message: fmt.Sprintf(
		"q has %d words, and may have %d. Send the rarest of them.", words, core.MostWords)}
}

// has returns the condition that a row has all words in some columns, with its arguments. Its text is the same for any number of words, and
// the row's text is made once. No text is split into its words: on PostgreSQL that took fifty times as long.
func (d *DB) has(columns []string, asked []core.Asked) (string, []any) {
	list := strings.Join(columns, ", ")
	if d.Engine == core.SQLite {
		var lines strings.Builder
		for _, a := range asked {
			lines.WriteString(a.Word + " " + a.Address + "\n") // no word has white space
		}
		return "filter_has(?, " + list + ")", []any{lines.String()}
	}
	likes, patterns := make([]string, len(asked)), make([]string, len(asked))
	for i, a := range asked {
		likes[i], patterns[i] = "%"+escaped(a.Word)+"%", wordPattern(a)
	}
	return "(SELECT t LIKE ALL (CAST(? AS text[])) AND t ~ ALL (CAST(? AS text[])) FROM (SELECT lower(concat_ws(' ', " + list + ")) AS t OFFSET 0) AS x)",
		[]any{pq.Array(likes), pq.Array(patterns)}
}

// wordPattern returns the regular expression of PostgreSQL for texts in lower case that have a, as core.Asked.In finds it. The word stands behind a
// space, or behind a sign in a part that is no address.
func wordPattern(a core.Asked) string {
	const space, inPart, sign = `\x01-\x20\x7f,;:()<>{}"\[\]`, `[^\x01-\x20\x7f,;:()<>{}"\[\]@]*`, `[\x21-\x2f\x3b-\x3f\x5b-\x60\x7b-\x7f]`
	begins := escaped(a.Word)
	if a.Address != a.Word {
		begins += "|" + escaped(a.Address)
	}
	if !strings.Contains(a.Word, "@") {
		begins += "|" + inPart + sign + escaped(a.Word) + inPart + "($|[" + space + "])"
	}
	return "(^|[" + space + "])(" + begins + ")"
}

// escaped returns a text as it stands for itself in LIKE and in a regular expression.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
