package main

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
)

// sameAnswers makes sure that both programs do the same work. They read copies of one database in which as much was sold, so they answer alike. It
// waits for the purchases that are still under way.
func (w *world) sameAnswers(server, floor *program) error {
	for _, database := range []string{w.server, w.floor} {
		if err := w.sold(database); err != nil {
			return err
		}
	}
	for _, file := range []string{w.get, w.list} {
		requests, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, line := range strings.SplitN(string(requests), "\n", 3)[:2] { // by id and by slug
			token, path, _ := strings.Cut(line, " ")
			want, err := server.get(token, path)
			if err != nil {
				return err
			}
			got, err := floor.get(token, path)
			if err != nil {
				return err
			}
			if at := difference("", want, got); at != "" {
				return fmt.Errorf("%s: the server and the floor answer differently: %s", path, at)
			}
		}
	}
	return nil
}

// sold returns when no checkout of a database is being paid. A server on a slow disk may have answered 503 to one, and ends it later.
func (w *world) sold(database string) error {
	db, err := sql.Open(w.driver(database))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for deadline := time.Now().Add(settleTime); ; time.Sleep(20 * time.Millisecond) {
		var open int
		if err := db.QueryRow(`SELECT COUNT(*) FROM checkouts WHERE status = 'processing'`).Scan(&open); err != nil {
			return err
		}
		if open == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d checkouts are being paid for longer than %s", open, settleTime)
		}
	}
}

// difference says where two answers differ first, or nothing.
func difference(at string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			break
		}
		both := maps.Clone(want)
		maps.Copy(both, got)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			w, has := want[name]
			g, hasToo := got[name]
			if has != hasToo {
				return fmt.Sprintf("one of them has no %s.%s", at, name)
			}
			if d := difference(at+"."+name, w, g); d != "" {
				return d
			}
		}
		return ""
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			break
		}
		for i := range want {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), want[i], got[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s is %v and %v", at, want, got)
}
