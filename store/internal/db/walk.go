package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// MostExamined is how many rows a list examines for a page at most, unless Options say otherwise. Of a q of several words it is how many
// times a row is asked for one. SQLite examines so many in less than 50 ms.
const MostExamined = 20_000

// partialShare is which part of that is examined for a page that may be partial. It is examined first of all rows, then of those that an index leads
// to. It is small, because a search asks for a page of each kind.
const partialShare = 8

// Moment is a column with a time that is seldom much later than the row's id was made, and never earlier. A list asks for a window of it by the ids
// that were made then.
type Moment struct {
	Column string
	Within time.Duration // how much later it is as a rule
	Late   string        // holds for each row of which it is later, and for few others; an index of (account_id, column, id) has this condition. Empty if there is no such row
}

// ClockDifference is how much the clocks of two replicas may differ, of which one makes an id and the other the row.
const ClockDifference = 10 * time.Minute

// moment is a window of a Moment.
type moment struct {
	Moment
	after, before *core.Time
}

// Made says what is special about created_at in this list.
func (f *Filter) Made(m Moment) {
	m.Column = "created_at"
	f.made = m
}

// Within adds that a moment is not before after, and before before; nil is no bound.
func (f *Filter) Within(m Moment, after, before *core.Time) {
	if after == nil && before == nil {
		return
	}
	f.moments = append(f.moments, moment{m, after, before})
	if after != nil {
		f.And(m.Column+" >= ?", *after)
	}
	if before != nil {
		f.And(m.Column+" < ?", *before)
	}
}

// walk reads pages of one list. It looks which of the filters' indexes comes furthest, in the indexes alone, and reads the rows by that one.
//
// One statement with a bounded subquery was measured in its place: SELECT ... FROM (SELECT ... WHERE a filter LIMIT 20001) WHERE the others
// LIMIT 21. Among a million orders the two take, in ms and pages read, if the first filter leads the subquery:
//
//	                                        SQLite                       PostgreSQL
//	                                        walk          subquery       walk        subquery
//	a common status, first page             0.2   125     0.2       113  0.7    19   0.4     10
//	a common status, in the middle          0.2   123     0.3       113  0.4    12   0.3      7
//	a status of 100, the oldest             0.2   106  3000   2,020,317  0.4    12   0.3      7
//	a common status, a discount of 50       0.1   164   190      61,101  1.1    22   100  2,845  refused by the subquery
//	an amount that none has                 0.1   629   187      41,019  0.7    42    70  2,144
//	two filters of many, no order has both   20 42,001   62     121,732   54 5,151   102  5,058  refused by both
//
// The subquery saves a statement, and has to be told which filter leads. If it is told wrongly, it refuses a list that is there. If each filter leads
// in its turn, no more is refused than here. But the last line takes 0.4 s on SQLite and 0.3 s on PostgreSQL. For the order of its rows SQLite takes
// the primary key, which is why a rare status takes 3 s. Nor is it shorter: what a range, words or a few ids lead to is read as here.
type walk[T any] struct {
	d       *DB
	columns *Columns[T]
	kind    core.Kind
	account string
	ascends bool

	exhaustive bool
	partial    bool
	words      int // how many q asks each row for
}

// stretch is a part of a list: the rows for which all conditions hold, with an id between above and below. Neither of these is an id of the stretch.
type stretch struct {
	above, below string
	conditions   []condition
}

// stretches returns the parts in which a page of the list is to be looked for, in its order.
//
// No row's moment is before its id was made, and few are long after. So the rows of a window have ids that were made then. Those that do not are
// found by the index of the late ones. An account whose clock is ahead has ids that are older than its rows.
func (w *walk[T]) stretches(ctx context.Context, p core.Page, f *Filter) ([]stretch, error) {
	all := stretch{w.kind.Prefix(), w.kind.Prefix() + "z", f.conditions}
	if position := p.StartingAfter + p.EndingBefore; position != "" && w.ascends { // Resolve has made sure that at most one of them is set
		all.above = position
	} else if position != "" {
		all.below = position
	}
	var from string
	var latest *moment
	for i, m := range f.moments {
		if m.before != nil {
			all.below = min(all.below, core.IDsBefore(w.kind, m.before.Add(ClockDifference)))
		}
		if m.after == nil {
			continue
		}
		if least := core.IDsBefore(w.kind, m.after.Add(-m.Moment.Within-ClockDifference)); least > from {
			from, latest = least, &f.moments[i]
		}
	}
	if latest == nil || from <= all.above {
		return []stretch{all}, nil
	}
	if ahead, err := Get[core.Time](ctx, w.d, `SELECT clock_offset FROM accounts WHERE id = ?`, w.account); err != nil || ahead == nil || *ahead > 0 {
		return []stretch{all}, err
	}
	usual := all
	usual.above = from
	if latest.Late == "" {
		return []stretch{usual}, nil
	}
	late := stretch{all.above, min(from, all.below), append(slices.Clone(f.conditions), latest.late())}
	if w.ascends {
		return []stretch{late, usual}, nil
	}
	return []stretch{usual, late}, nil
}

// late returns the condition that a row is late, and in the window.
func (m *moment) late() condition {
	c := condition{text: m.Late + " AND " + m.Column + " >= ?", args: []any{*m.after}, lead: leadRange}
	if m.before != nil {
		c.text, c.args = c.text+" AND "+m.Column+" < ?", append(c.args, *m.before)
	}
	return c
}

// gather returns the first rows of a stretch, so many as are missing if there are. It goes along the index that leads through it in
// the fewest steps. A first look, at a few rows, is enough for most lists; after it a range that holds few rows is read as a whole.
// What has more rows than may be examined, and not enough for the page among those, is CodeBadRequest, and comes with those there are.
func (w *walk[T]) gather(ctx context.Context, s stretch, missing int) ([]T, error) {
	if s.above >= s.below {
		return nil, nil
	}
	most := w.most()
	if len(s.conditions) == 0 {
		return w.rows(ctx, s, nil, missing)
	}
	if few := slices.IndexFunc(s.conditions, func(c condition) bool { return c.lead == leadFew }); few >= 0 {
		return w.rows(ctx, s, &s.conditions[few], missing)
	}
	if w.exhaustive {
		return w.exhaust(ctx, s, missing)
	}
	looks := []int{min(10*missing, most), most}
	if w.partial {
		looks[1] = max(looks[0], w.share())
	}
	if len(s.conditions) == 1 && s.conditions[0].lead == leadOrdered {
		looks[0] = missing // every row that the index leads to is one of the list
	}
	var rows []T
	for i, look := range looks {
		by, end, err := w.shortest(ctx, s, look)
		if err != nil {
			return nil, err
		}
		part := s
		if end != "" && w.ascends {
			part.below = end
		} else if end != "" {
			part.above = end
		}
		if rows, err = w.rows(ctx, part, by, missing); err != nil || end == "" || len(rows) == missing {
			return rows, err
		}
		if i > 0 {
			break
		}
		if by, err = w.small(ctx, s.conditions, most); err != nil {
			return nil, err
		}
		if by != nil {
			return w.rows(ctx, s, by, missing)
		}
	}
	fewer := ""
	if w.words > 1 {
		fewer = "fewer or rarer words, "
	}
	return rows, &boundError{&core.Error{Code: core.CodeBadRequest, Param: "created_after", Message: fmt.Sprintf(
		"More than %d items would have to be examined for this page. Send %screated_after and created_before, or another filter, such as status, so that there are fewer.", most, fewer)}}
}

// boundError says that a page would take more than may be examined for one.
type boundError struct{ refusal *core.Error }

func (e *boundError) Error() string { return e.refusal.Message }
func (e *boundError) Unwrap() error { return e.refusal }

// IsBound reports whether a list was refused only because a page of it would take too much.
func IsBound(err error) bool {
	_, ok := errors.AsType[*boundError](err)
	return ok
}

// exhaust returns the first rows of a stretch, newest first, however many have to be examined, as many at a time as for a page.
func (w *walk[T]) exhaust(ctx context.Context, s stretch, missing int) (found []T, err error) {
	for {
		by, end, err := w.shortest(ctx, s, w.most())
		if err != nil {
			return nil, err
		}
		part := s
		if end != "" {
			part.above = end
		}
		rows, err := w.rows(ctx, part, by, missing-len(found))
		if found = append(found, rows...); err != nil || end == "" || len(found) == missing {
			return found, err
		}
		s.below = end + "!" // the next text after the id at which this part ended, which is of the next one
	}
}

// some adds to rows of a stretch, newest first, what is found of others without examining too many. First come those among the newest to which an
// index leads in order. Of such indexes it takes the one that comes furthest in as many steps. If that is not enough, those follow that are among
// some to which an index leads in no order.
func (w *walk[T]) some(ctx context.Context, s stretch, rows []T, missing int) ([]T, error) {
	part, by := s, (*condition)(nil)
	for i := range s.conditions {
		ordered := s.conditions[i].ordered
		if ordered == nil {
			continue
		}
		end, err := w.step(ctx, s, ordered, w.share())
		if err != nil {
			return nil, err
		}
		if by == nil || cmp.Or(end, s.above) < part.above {
			part.above, by = cmp.Or(end, s.above), ordered
		}
	}
	if by == nil {
		return rows, nil
	}
	found, err := w.rows(ctx, part, by, missing)
	if rows = w.merged(rows, found, missing); err != nil || len(rows) == missing {
		return rows, err
	}
	for _, c := range s.conditions {
		if c.lead != leadSpread || len(rows) == missing {
			continue
		}
		c.cut = max(1, w.share()/max(1, w.words)) // of each word
		if found, err = w.rows(ctx, s, &c, missing); err != nil {
			return nil, err
		}
		rows = w.merged(rows, found, missing)
	}
	return rows, nil
}

// share returns how many rows may be examined each time for a page that may be partial.
func (w *walk[T]) share() int { return w.most() / partialShare }

// merged returns the newest of rows that were found in several ways.
func (w *walk[T]) merged(rows, others []T, most int) []T {
	rows = append(rows, others...)
	slices.SortFunc(rows, func(a, b T) int { return strings.Compare(w.columns.IDOf(&b), w.columns.IDOf(&a)) })
	rows = slices.CompactFunc(rows, func(a, b T) bool { return w.columns.IDOf(&a) == w.columns.IDOf(&b) })
	return rows[:min(len(rows), most)]
}

// most returns how many rows may be examined for a page. Each word of q is a question to each of them, so that more words leave fewer rows.
func (w *walk[T]) most() int {
	return cmp.Or(w.d.Options.MostExamined, MostExamined) / max(1, w.words)
}

// shortest returns the condition whose index comes furthest in so many steps, and the id where they end: "" beyond the last row. A
// nil condition is the primary key.
func (w *walk[T]) shortest(ctx context.Context, s stretch, steps int) (by *condition, end string, err error) {
	for i, c := range s.conditions {
		if c.lead != leadOrdered && c.lead != leadListed {
			continue
		}
		at, err := w.step(ctx, s, &s.conditions[i], steps)
		if err != nil || at == "" {
			return &s.conditions[i], "", err
		}
		if by == nil || w.ascends && at > end || !w.ascends && at < end {
			by, end = &s.conditions[i], at
		}
	}
	if by == nil {
		end, err = w.step(ctx, s, nil, steps)
	}
	return by, end, err
}

// step returns the id that is so many steps away along the index of a condition, "" if there is none. It reads nothing but the index.
func (w *walk[T]) step(ctx context.Context, s stretch, by *condition, steps int) (string, error) {
	table, column, where, args := w.columns.Table, "id", "", []any{w.account}
	if by != nil && by.lead == leadListed {
		table, column, where = by.table, by.column, " AND "+by.where
	} else if by != nil {
		where = " AND " + by.text
	}
	if by != nil {
		args = append(args, by.args...)
	}
	at, err := Get[string](ctx, w.d, "SELECT "+column+" FROM "+table+" WHERE account_id = ?"+where+" AND "+column+" > ? AND "+column+" < ?"+
		" ORDER BY "+column+w.direction()+" LIMIT 1 OFFSET ? + 0", append(args, s.above, s.below, steps)...)
	return core.Deref(at), err
}

// direction returns what says in SQL in which order the ids are.
func (w *walk[T]) direction() string {
	if w.ascends {
		return ""
	}
	return " DESC"
}

// small returns a condition that leads to a range, and whose index leads to no more than so many rows. It returns nil if there is none.
func (w *walk[T]) small(ctx context.Context, conditions []condition, most int) (*condition, error) {
	for i, c := range conditions {
		table, where := w.columns.Table, c.text
		switch c.lead {
		case leadRange:
		case leadSpread:
			table, where = c.table, c.where
		default:
			continue
		}
		beyond, err := Get[int](ctx, w.d, "SELECT 1 FROM "+table+" WHERE account_id = ? AND "+where+" LIMIT 1 OFFSET ? + 0",
			append(append([]any{w.account}, c.led()...), most)...)
		if err != nil || beyond == nil {
			return &conditions[i], err
		}
	}
	return nil, nil
}

// rows returns the first rows of a stretch, found by the index of a condition; nil is the primary key. The other conditions stand in
// a CASE, where no plan takes them for a way to the rows. The ids of the rows of another index are sorted as an expression. For the order of the ids
// alone PostgreSQL would walk the primary key, however long it is.
func (w *walk[T]) rows(ctx context.Context, s stretch, by *condition, limit int) ([]T, error) {
	query, args := w.columns.SelectSQL+" WHERE account_id = ?", []any{w.account}
	id, order := "id", "id || ''"
	switch {
	case by == nil:
		order = "id"
	case by.lead == leadListed || by.lead == leadSpread:
		id = "id || ''" // the list is what leads to the rows, and is bounded itself
		listed := "SELECT " + by.column + " FROM " + by.table + " WHERE account_id = ? AND " + by.where + " AND " + by.column + " > ? AND " + by.column + " < ?"
		args = append(append(append(args, w.account), by.led()...), s.above, s.below)
		if by.lead == leadSpread && len(s.conditions) == 1 && by.cut == 0 { // every row that it leads to is one of the list, so that the first ones do
			listed = "SELECT DISTINCT " + by.column + strings.TrimPrefix(listed, "SELECT "+by.column) + " ORDER BY " + by.column + w.direction() + " LIMIT ? + 0"
			args = append(args, limit)
		}
		if by.cut > 0 {
			listed += " LIMIT ? + 0"
			args = append(args, by.cut)
		}
		query += " AND " + w.d.InSelected("id", listed)
	case by.lead == leadFew, by.lead == leadRange:
		id = "id || ''" // the condition is what leads to the rows
		fallthrough
	default:
		query, args = query+" AND "+by.text, append(args, by.args...)
	}
	query, args = query+" AND "+id+" > ? AND "+id+" < ?", append(args, s.above, s.below)
	var others []string
	for i := range s.conditions {
		if c := &s.conditions[i]; c != by {
			others, args = append(others, c.text), append(args, c.args...)
		}
	}
	if others != nil {
		query += " AND CASE WHEN " + strings.Join(others, " AND ") + " THEN 1 END = 1"
	}
	return Select[T](ctx, w.d, query+" ORDER BY "+order+w.direction()+" LIMIT ? + 0", append(args, limit)...)
}
