package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// shelf is what the floor sells with: the rows that the server has made of one purchase. Every purchase here is a copy of them with ids, numbers and
// an address of its own.
//
// A purchase is four transactions, as few as its promises allow. The first is the checkout. The second is the intent to charge, before anybody is
// asked for money. The third is the charge in the provider's books, which stand for another company's. The last is what follows from it. Of each one
// all rows go in one statement, but for those that have to be known before.
type shelf struct {
	account, product, variant, email string
	ids                              []string // of the template, each of which becomes a new one
	products                         map[string]string

	checkout, payment, charge, customer, order, invoice template
	checkoutLine, orderLine                             template
	opened                                              template // checkout.created
	events                                              []template

	open, intend, made, numbered        batch
	buyer, line, numbers, post, reading *sql.Stmt
}

// template is one row of a table.
type template struct {
	table   string
	columns []string
	values  []any
	ids     []bool // which columns hold ids
}

func (t template) insert() string {
	return "INSERT INTO " + t.table + " (" + strings.Join(t.columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
}

// set gives a column of the template another value.
func (t template) set(column string, value any) {
	t.values[slices.Index(t.columns, column)] = value
}

// filled returns the values of a new row.
func (t template) filled(ids *strings.Replacer, set map[string]any) []any {
	values := make([]any, len(t.values))
	for i, value := range t.values {
		if special, ok := set[t.columns[i]]; ok {
			value = special
		} else if text, ok := value.(string); ok && t.ids[i] {
			value = ids.Replace(text)
		}
		values[i] = value
	}
	return values
}

// readTemplates returns the rows of a table that a condition finds, in the order of their ids.
func (f *floor) readTemplates(table, condition string, args ...any) ([]template, error) {
	rows, err := f.read.Query(f.rebind("SELECT * FROM "+table+" WHERE "+condition+" ORDER BY id"), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var found []template
	for rows.Next() {
		t := template{table: table, columns: columns, values: make([]any, len(columns)), ids: make([]bool, len(columns))}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = &t.values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, rows.Err()
}

// stock reads the one purchase that the server has made. Without one there is nothing to sell.
func (f *floor) stock() error {
	s := &f.shelf
	var order, checkout, customer, charge string
	err := f.read.QueryRow(`
		SELECT o.account_id, o.id, o.checkout_id, o.customer_id, p.provider_ref FROM orders AS o
		JOIN payments AS p ON p.account_id = o.account_id AND p.order_id = o.id ORDER BY o.id LIMIT 1`).Scan(&s.account, &order, &checkout, &customer, &charge)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, read := range []struct {
		into      *template
		table, by string
		value     string
	}{
		{&s.order, "orders", "id", order},
		{&s.checkout, "checkouts", "id", checkout},
		{&s.invoice, "invoices", "order_id", order},
		{&s.payment, "payments", "order_id", order},
		{&s.orderLine, "line_items", "order_id", order},
		{&s.checkoutLine, "line_items", "checkout_id", checkout},
		{&s.charge, "test_charges", "id", charge},
		{&s.customer, "customers", "id", customer},
		{&s.opened, "events", "ordering_key", checkout},
	} {
		found, err := f.readTemplates(read.table, "account_id = ? AND "+read.by+" = ?", s.account, read.value)
		if err != nil || len(found) != 1 {
			return fmt.Errorf("%d rows of the purchase in %s: %w", len(found), read.table, err)
		}
		*read.into = found[0]
	}
	if s.events, err = f.readTemplates("events", "account_id = ? AND ordering_key = ?", s.account, order); err != nil {
		return err
	}
	return f.arrange()
}

// arrange finds the ids in the templates, and prepares the statements.
func (f *floor) arrange() error {
	s := &f.shelf
	s.email = s.customer.values[slices.Index(s.customer.columns, "email")].(string)
	line := func(column string) string {
		return s.orderLine.values[slices.Index(s.orderLine.columns, column)].(string)
	}
	s.product, s.variant = line("product_id"), line("price_variant_id")
	all := append([]template{s.checkout, s.payment, s.customer, s.order, s.invoice, s.checkoutLine, s.orderLine, s.opened}, s.events...)
	for _, t := range all {
		s.ids = append(s.ids, t.values[slices.Index(t.columns, "id")].(string))
	}
	for _, t := range append(all, s.charge) {
		for i, value := range t.values {
			text, ok := value.(string)
			t.ids[i] = ok && slices.ContainsFunc(append([]string{s.account, s.product, s.variant, s.email}, s.ids...), func(id string) bool { return strings.Contains(text, id) })
		}
	}
	for _, column := range []string{"order_id", "invoice_id", "customer_id"} {
		s.checkout.set(column, nil)
		s.payment.set(column, nil)
	}
	s.checkout.set("completed_at", nil)
	s.checkout.set("status", "open")
	s.checkout.set("payment_status", "unpaid")
	s.payment.set("status", "pending")
	s.products = map[string]string{}
	rows, err := f.read.Query(`SELECT id, product_id FROM price_variants`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var variant, product string
		if err := rows.Scan(&variant, &product); err != nil {
			return err
		}
		s.products[variant] = product
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return f.prepareShelf()
}

func (f *floor) prepareShelf() error {
	s := &f.shelf
	numbered := []string{
		s.order.insert(), s.invoice.insert(),
		`UPDATE products SET sales_count = sales_count + 1 WHERE account_id = ? AND id = ?`,
		`UPDATE price_variants SET reserved_count = reserved_count - 1, sold_count = sold_count + 1 WHERE account_id = ? AND id = ?`,
	}
	for _, e := range s.events {
		numbered = append(numbered, e.insert())
	}
	for into, texts := range map[*batch][]string{
		&s.open: {`INSERT INTO global_names (kind, name, account_id, object_id) VALUES (?, ?, ?, ?)`, s.checkout.insert(), s.checkoutLine.insert(), s.opened.insert(), recordAnswer},
		&s.intend: {
			s.payment.insert(), `UPDATE checkouts SET status = 'processing', updated_at = ? WHERE account_id = ? AND id = ?`,
			`UPDATE price_variants SET reserved_count = reserved_count + 1 WHERE account_id = ? AND id = ? AND (stock IS NULL OR sold_count + reserved_count < stock)`,
		},
		&s.made: {
			s.orderLine.insert(),
			`UPDATE checkouts SET status = 'completed', payment_status = 'paid', completed_at = ?, updated_at = ?, order_id = ?, invoice_id = ?, customer_id = ?
			WHERE account_id = ? AND id = ?`,
			`UPDATE payments SET status = 'succeeded', updated_at = ?, order_id = ?, invoice_id = ?, customer_id = ? WHERE account_id = ? AND id = ?`,
			s.customer.insert(),
		},
		&s.numbered: append(numbered, recordAnswer),
	} {
		var err error
		if *into, err = f.batch(texts...); err != nil {
			return err
		}
	}
	forUpdate := ""
	if f.shared {
		forUpdate = " FOR UPDATE"
	}
	for _, p := range []struct {
		statement **sql.Stmt
		db        *sql.DB
		query     string
	}{
		{&s.buyer, f.write, `SELECT customer_email FROM checkouts WHERE account_id = ? AND id = ?` + forUpdate},
		{&s.line, f.write, `SELECT product_id, price_variant_id FROM line_items WHERE account_id = ? AND checkout_id = ?`},
		{&s.numbers, f.write, `
			INSERT INTO counters AS c (account_id, name, value) VALUES (?, 'order_number', 1), (?, 'invoice_number', 1)
			ON CONFLICT (account_id, name) DO UPDATE SET value = c.value + 1 RETURNING value`},
		{&s.post, f.write, s.charge.insert()},
		{&s.reading, f.read, `SELECT number, status FROM orders WHERE account_id = ? AND id = ?`},
	} {
		var err error
		if *p.statement, err = p.db.Prepare(f.rebind(p.query)); err != nil {
			return err
		}
	}
	return nil
}

// copied returns what gives the templates new ids, and the new ones in the order of the shelf's.
func (s *shelf) copied(account, product, variant, email string, known map[int]string) (*strings.Replacer, []string) {
	pairs := []string{s.account, account, s.product, product, s.variant, variant, s.email, email}
	ids := make([]string, len(s.ids))
	for i, old := range s.ids {
		prefix, _, _ := strings.Cut(old, "_")
		if ids[i] = known[i]; ids[i] == "" {
			ids[i] = newID(prefix + "_")
		}
		pairs = append(pairs, old, ids[i])
	}
	return strings.NewReplacer(pairs...), ids
}

// The places of some ids on the shelf.
const idCheckout, idPayment, idCustomer, idOrder, idInvoice = 0, 1, 2, 3, 4

// answered runs a handler's work on its body, and answers with what it returns.
func answered(w http.ResponseWriter, r *http.Request, status int, work func(body []byte) ([]byte, error)) {
	sent, err := io.ReadAll(r.Body)
	var body []byte
	if err == nil {
		body, err = work(sent)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, status, body)
}

// claimed begins a transaction with the claim of a key.
func (f *floor) claimed(account, key string, sent []byte) (*sql.Tx, string, error) {
	now := time.Now().UnixMicro()
	fingerprint, token, effect := sha256.Sum256(sent), newID(""), ""
	tx, err := f.write.Begin()
	if err != nil {
		return nil, "", err
	}
	err = tx.Stmt(f.claim).QueryRow(account, key, fingerprint[:], token, newID(""), now+60e6, now+86400e6, now, now, now, now).Scan(&effect)
	if err != nil {
		_ = tx.Rollback()
	}
	return tx, token, err
}

func (f *floor) openCheckout(w http.ResponseWriter, r *http.Request, account string) {
	answered(w, r, http.StatusCreated, func(sent []byte) ([]byte, error) {
		s := &f.shelf
		var in struct {
			Email string `json:"customer_email"`
			Lines []struct {
				Variant string `json:"price_variant"`
			} `json:"line_items"`
		}
		if err := json.Unmarshal(sent, &in); err != nil {
			return nil, err
		}
		variant, now := in.Lines[0].Variant, time.Now().UnixMicro()
		replacer, ids := s.copied(account, s.products[variant], variant, in.Email, nil)
		times := map[string]any{"created_at": now, "updated_at": now}
		checkout := s.checkout.filled(replacer, times)
		body := fmt.Appendf(nil, `{"id":%q,"body":%q}`, ids[idCheckout], s.opened.filled(replacer, nil)[slices.Index(s.opened.columns, "body")])
		key := r.Header.Get("Idempotency-Key")
		tx, token, err := f.claimed(account, key, sent)
		if err != nil {
			return nil, err
		}
		defer func() { _ = tx.Rollback() }()
		if err := drain(tx.Stmt(f.subscribers).Query(account)); err != nil {
			return nil, err
		}
		hash := sha256.Sum256([]byte(ids[idCheckout]))
		err = s.open.run(tx, []any{"checkout_secret", hex.EncodeToString(hash[:]), account, ids[idCheckout]}, checkout, s.checkoutLine.filled(replacer, times),
			s.opened.filled(replacer, times), []any{http.StatusCreated, body, account, key, token})
		if err != nil {
			return nil, err
		}
		return body, tx.Commit()
	})
}

func (f *floor) confirm(w http.ResponseWriter, r *http.Request, account string) {
	answered(w, r, http.StatusOK, func(sent []byte) ([]byte, error) {
		s, key, now := &f.shelf, r.Header.Get("Idempotency-Key"), time.Now().UnixMicro()
		checkout, payment := r.PathValue("id"), newID("pay_")
		tx, token, err := f.claimed(account, key, sent)
		if err != nil {
			return nil, err
		}
		defer func() { _ = tx.Rollback() }()
		var email, product, variant string
		if err := tx.Stmt(s.buyer).QueryRow(account, checkout).Scan(&email); err != nil {
			return nil, err
		}
		if err := tx.Stmt(s.line).QueryRow(account, checkout).Scan(&product, &variant); err != nil {
			return nil, err
		}
		replacer, ids := s.copied(account, product, variant, email, map[int]string{idCheckout: checkout, idPayment: payment})
		times := map[string]any{"created_at": now, "updated_at": now}
		if err := s.intend.run(tx, s.payment.filled(replacer, times), []any{now, account, checkout}, []any{account, variant}); err != nil {
			return nil, err
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		if _, err := s.post.Exec(s.charge.filled(replacer, times)...); err != nil {
			return nil, err
		}
		body := fmt.Appendf(nil, `{"id":%q,"order":%q,"body":%q}`, checkout, ids[idOrder], s.opened.filled(replacer, nil)[slices.Index(s.opened.columns, "body")])
		return body, f.settle(account, key, token, product, variant, replacer, ids, body)
	})
}

// settle makes the order of a checkout that is paid for.
func (f *floor) settle(account, key, token, product, variant string, replacer *strings.Replacer, ids []string, body []byte) error {
	s, now := &f.shelf, time.Now().UnixMicro()
	times := map[string]any{"created_at": now, "updated_at": now}
	tx, err := f.write.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := drain(tx.Stmt(f.subscribers).Query(account)); err != nil {
		return err
	}
	order, invoice, customer := ids[idOrder], ids[idInvoice], ids[idCustomer]
	err = s.made.run(tx, s.orderLine.filled(replacer, times), []any{now, now, order, invoice, customer, account, ids[idCheckout]},
		[]any{now, order, invoice, customer, account, ids[idPayment]}, s.customer.filled(replacer, times))
	if err != nil {
		return err
	}
	var events [][]any
	for _, e := range s.events {
		events = append(events, e.filled(replacer, times))
	}
	var number int64
	if err := tx.Stmt(s.numbers).QueryRow(account, account).Scan(&number); err != nil {
		return err
	}
	numbered := map[string]any{"created_at": now, "updated_at": now, "number": number}
	invoiced := map[string]any{"created_at": now, "updated_at": now, "sequence": number, "number": fmt.Sprintf("INV-%06d", number)}
	args := [][]any{s.order.filled(replacer, numbered), s.invoice.filled(replacer, invoiced), {account, product}, {account, variant}}
	if err := s.numbered.run(tx, append(append(args, events...), []any{http.StatusOK, body, account, key, token})...); err != nil {
		return err
	}
	return tx.Commit()
}

func (f *floor) getOrder(w http.ResponseWriter, r *http.Request, account string) {
	answered(w, r, http.StatusOK, func([]byte) ([]byte, error) {
		var number int64
		var status string
		err := f.shelf.reading.QueryRow(account, r.PathValue("id")).Scan(&number, &status)
		return fmt.Appendf(nil, `{"id":%q,"number":%d,"status":%q}`, r.PathValue("id"), number, status), err
	})
}
