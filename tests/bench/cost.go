package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// cost is what one purchase asks of the database.
type cost struct {
	commits, statements, behind float64 // behind: while the account's numbers are held
	held                        time.Duration
	log, file                   float64 // in KB
}

const (
	costPurchases = 100 // whose cost is measured, after as many that warm up
	costBatch     = 4   // between two looks at SQLite's log, which begins anew after 1,000 pages
)

// costs says what a purchase costs the database, with one buyer at a time: these figures do not depend on the machine but for held.
func (w *world) costs(serverPath, floorPath string) error {
	if err := w.analyse(); err != nil {
		return err
	}
	fmt.Printf("\n%-9s %-15s %9s %11s %13s %9s %9s %9s\n", "database", "a purchase of", "commits", "statements", "after numbers", "held ms", "log KB", "file KB")
	for _, of := range []struct {
		name, database string
		start          func(database string) (*program, error)
	}{
		{"the server", w.server, func(database string) (*program, error) {
			return start("server", serverPath, append(w.production(), "TILLWRIGHT_DATABASE_URL="+database), "serve")
		}},
		{"the floor", w.floor, func(database string) (*program, error) {
			return start("floor", floorPath, nil, "--database-url", database)
		}},
	} {
		measure := w.costOnPostgres
		if w.engine == "sqlite" {
			measure = w.costOnSQLite
		}
		c, err := measure(of.database, of.start)
		if err != nil {
			return fmt.Errorf("cost of a purchase of %s: %w", of.name, err)
		}
		statements, behind, held := "-", "-", "-"
		if w.engine != "sqlite" {
			statements, behind, held = fmt.Sprintf("%.1f", c.statements), fmt.Sprintf("%.1f", c.behind), fmt.Sprintf("%.2f", float64(c.held.Microseconds())/1000)
		}
		fmt.Printf("%-9s %-15s %9.1f %11s %13s %9s %9.1f %9.1f\n", w.engine, of.name, c.commits, statements, behind, held, c.log, c.file)
	}
	fmt.Println()
	return nil
}

// repeat makes purchases, one after the other.
func (w *world) repeat(p *program, times int) error {
	for range times {
		if _, err := buyOnce(p, w.one, "cost"); err != nil {
			return err
		}
	}
	return nil
}

// costOnPostgres measures a program that reaches its database by a wire which counts.
func (w *world) costOnPostgres(database string, start func(string) (*program, error)) (c cost, err error) {
	line, address, err := newWire(database)
	if err != nil {
		return c, err
	}
	defer line.close()
	p, err := start(address)
	if err != nil {
		return c, err
	}
	defer p.stop()
	db, err := sql.Open("postgres", database)
	if err != nil {
		return c, err
	}
	defer func() { _ = db.Close() }()
	if err := w.repeat(p, costPurchases); err != nil {
		return c, err
	}
	look := func() (c cost, err error) {
		// Each transaction that writes takes one number, the look itself too.
		err = db.QueryRow(`SELECT pg_current_xact_id()::text::bigint, (pg_current_wal_insert_lsn() - '0/0') / 1024, pg_database_size(current_database()) / 1024.0`).
			Scan(&c.commits, &c.log, &c.file)
		line.mu.Lock()
		defer line.mu.Unlock()
		c.statements, c.behind, c.held = float64(line.statements), float64(line.behind), line.held
		return c, err
	}
	before, err := look()
	if err != nil {
		return c, err
	}
	if err := w.repeat(p, costPurchases); err != nil {
		return c, err
	}
	after, err := look()
	each := func(before, after float64) float64 { return (after - before) / costPurchases }
	return cost{
		each(before.commits+1, after.commits), each(before.statements, after.statements), each(before.behind, after.behind),
		(after.held - before.held) / costPurchases, each(before.log, after.log), each(before.file, after.file),
	}, err
}

// costOnSQLite measures a program by what it writes to the log, which says where each commit ends.
func (w *world) costOnSQLite(database string, start func(string) (*program, error)) (c cost, err error) {
	p, err := start(database)
	if err != nil {
		return c, err
	}
	defer p.stop()
	db, err := sql.Open(w.driver(database))
	if err != nil {
		return c, err
	}
	defer func() { _ = db.Close() }()
	path := strings.TrimPrefix(database, "sqlite://")
	pages := func() (n float64, err error) {
		return n, db.QueryRow(`PRAGMA page_count`).Scan(&n)
	}
	if err := w.repeat(p, costPurchases); err != nil {
		return c, err
	}
	before, err := pages()
	if err != nil {
		return c, err
	}
	for range costPurchases / costBatch {
		if err := emptyLog(db); err != nil {
			return c, err
		}
		if err := w.repeat(p, costBatch); err != nil {
			return c, err
		}
		commits, size, err := readLog(path + "-wal")
		if err != nil {
			return c, err
		}
		c.commits, c.log = c.commits+commits/costPurchases, c.log+size/1024/costPurchases
	}
	after, err := pages()
	c.file = (after - before) * pageSize / 1024 / costPurchases
	return c, err
}

const pageSize = 4096

// emptyLog has SQLite begin its log anew.
func emptyLog(db *sql.DB) error {
	var busy, log, moved int
	for range 100 {
		if err := db.QueryRowContext(context.Background(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved); err != nil {
			return err
		}
		if busy == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the log is never idle")
}

// readLog counts the commits in SQLite's log, and its bytes. A frame has a header of 24 bytes, whose second number is not 0 where a
// commit ends, and a page.
func readLog(path string) (commits, size float64, err error) {
	log, err := os.ReadFile(path)
	if err != nil || len(log) == 0 {
		return 0, 0, err
	}
	const header, frame = 32, 24 + pageSize
	salt := string(log[16:24])
	for at := header; at+frame <= len(log); at += frame {
		if string(log[at+8:at+16]) != salt {
			break // what follows is of a log before
		}
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			commits++
		}
		size += frame
	}
	return commits, size, nil
}
