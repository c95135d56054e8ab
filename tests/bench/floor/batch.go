package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// batch is several statements that change something. On PostgreSQL they are one, so that they take one round trip.
type batch struct {
	statements []*sql.Stmt
	shared     bool
}

func (f *floor) batch(texts ...string) (batch, error) {
	b := batch{shared: f.shared}
	if f.shared {
		var whole strings.Builder
		for i, text := range texts[:len(texts)-1] {
			fmt.Fprintf(&whole, "%s s%d AS (%s)", map[bool]string{true: "WITH", false: ","}[i == 0], i, text)
		}
		texts = []string{whole.String() + " " + texts[len(texts)-1]}
	}
	for _, text := range texts {
		statement, err := f.write.Prepare(f.rebind(text))
		if err != nil {
			return b, fmt.Errorf("%s: %w", text, err)
		}
		b.statements = append(b.statements, statement)
	}
	return b, nil
}

func (b batch) run(tx *sql.Tx, args ...[]any) error {
	if b.shared {
		args = [][]any{slices.Concat(args...)}
	}
	for i, statement := range b.statements {
		if _, err := tx.Stmt(statement).Exec(args[i]...); err != nil {
			return err
		}
	}
	return nil
}
