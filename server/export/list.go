// Package export reads lists of the API, page by page, as the rows of a CSV file with a column for each field.
package export

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/signed"
)

// perPage is how many rows are read at a time, which bounds the memory that a file takes. Of what has a long text, it is textsPerPage.
const perPage, textsPerPage = 200, 10

// List is a list of the API that can be had as a file.
type List struct {
	Head  []string
	limit int
	open  func(query []byte) (pages, error)
}

// pages reads one page of a list as rows. Last is the id of the last of them, and empty if there are no more.
type pages func(ctx context.Context, account string, at core.Page) (rows [][]string, last string, err error)

// Rows returns what reads the list, newest first, with a query that Sign was given. It reads the rows behind the one with an id, or the
// first ones. Last is the id of the last of them, and empty at the end.
func (l *List) Rows(account string, query []byte) (func(ctx context.Context, after string) (rows [][]string, last string, err error), error) {
	read, err := l.open(query)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, after string) ([][]string, string, error) {
		return read(ctx, account, core.Page{Limit: l.limit, StartingAfter: after, Exhaustive: true})
	}, nil
}

// Sign returns a URL of the list of a name, as a file with what a query lets through: the parameters of the list's operation. Something that
// does not exist there is refused as the list does. The URL serves as long as the API key that asked for it does, and has these scopes.
func Sign(ctx context.Context, s *store.Store, name, account, key string, scopes []string, query any) (*signed.URL, error) {
	text, err := json.Marshal(query)
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", name, err)
	}
	found, err := Find(s, name)
	if err != nil {
		return nil, err
	}
	read, err := found.open(text)
	if err != nil {
		return nil, err
	}
	if _, _, err := read(ctx, account, core.Page{Limit: 1, Partial: true}); err != nil {
		return nil, err
	}
	return s.Signed.Sign(signed.File{Kind: signed.FileKindList, Account: account, List: name, Key: key, Scopes: scopes, Query: text})
}

// filter is what a use case takes of a list that it reads: its filters, and a core.Page.
type filter[F any] interface {
	*F
	Turn(to core.Page)
}

// of returns the list that a use case reads, whose operation has the parameters Q, and shows rows as W. What is hidden has no column.
func of[Q, F, R, W any, P filter[F]](
	read func(ctx context.Context, account string, in F) ([]R, bool, error), filter func(Q) F, show func(*R) W, hidden ...string,
) *List {
	columns := columnsOf[W](hidden)
	return list[Q, F, R, P](read, filter, names(columns), each(func(r *R) []string { return cells(columns, show(r)) }))
}

// each makes a row of each item.
func each[R any](row func(*R) []string) func(ctx context.Context, account string, items []R) ([][]string, error) {
	return func(_ context.Context, _ string, items []R) ([][]string, error) {
		rows := make([][]string, len(items))
		for i := range items {
			rows[i] = row(&items[i])
		}
		return rows, nil
	}
}

// list returns the list that a use case reads, whose operation has the parameters Q, with rows that begin with the id.
func list[Q, F, R any, P filter[F]](
	read func(ctx context.Context, account string, in F) ([]R, bool, error), filter func(Q) F, head []string,
	rows func(ctx context.Context, account string, items []R) ([][]string, error),
) *List {
	return &List{Head: head, limit: perPage, open: func(query []byte) (pages, error) {
		var q Q
		if err := json.Unmarshal(query, &q); err != nil {
			return nil, fmt.Errorf("read the query of an export: %w", err)
		}
		return func(ctx context.Context, account string, at core.Page) ([][]string, string, error) {
			in := filter(q)
			P(&in).Turn(at)
			items, more, err := read(ctx, account, in)
			if err != nil {
				return nil, "", err
			}
			page, err := rows(ctx, account, items)
			if err != nil || !more || len(page) == 0 {
				return page, "", err
			}
			return page, page[len(page)-1][0], nil
		}, nil
	}}
}

// texts returns a list whose rows have long texts.
func texts(l *List) *List {
	l.limit = textsPerPage
	return l
}
