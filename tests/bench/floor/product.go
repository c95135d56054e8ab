package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// product is a row as it comes. What the table holds as JSON goes out as it is.
type product struct {
	account, id, name, slug              string
	description, headline                sql.NullString
	status, kind, visibility, images     string
	coverURL, taxCode                    sql.NullString
	callToAction, thankYou               sql.NullString
	customFields                         string
	delivers                             bool
	deliveryUpdates, variants            string
	defaultVariant                       sql.NullString
	minAmount, maxAmount                 sql.NullInt64
	currency                             sql.NullString
	recurring                            bool
	sales                                int64
	publishedAt                          sql.NullInt64
	seoTitle, seoDescription, externalID sql.NullString
	metadata                             string
	seq, createdAt, updatedAt            int64
}

func (p *product) scan(scan func(...any) error) error {
	return scan(&p.account, &p.id, &p.name, &p.slug, &p.description, &p.headline, &p.status, &p.kind, &p.visibility, &p.images,
		&p.coverURL, &p.taxCode, &p.callToAction, &p.thankYou, &p.customFields, &p.delivers, &p.deliveryUpdates, &p.variants, &p.defaultVariant,
		&p.minAmount, &p.maxAmount, &p.currency, &p.recurring, &p.sales, &p.publishedAt, &p.seoTitle, &p.seoDescription,
		&p.externalID, &p.metadata, &p.seq, &p.createdAt, &p.updatedAt)
}

func (p *product) append(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, p.id...)
	b = append(b, `","object":"product","name":`...)
	b = quote(b, p.name)
	b = append(append(append(b, `,"slug":"`...), p.slug...), `","description":`...)
	b = append(orNull(b, p.description), `,"headline":`...)
	b = append(orNull(b, p.headline), `,"status":"`...)
	b = append(append(b, p.status...), `","type":"`...)
	b = append(append(b, p.kind...), `","visibility":"`...)
	b = append(append(b, p.visibility...), `","images":`...)
	b = append(append(b, p.images...), `,"cover_url":`...)
	b = append(orNull(b, p.coverURL), `,"tax_code":`...)
	b = append(orNull(b, p.taxCode), `,"call_to_action":`...)
	b = append(orNull(b, p.callToAction), `,"thank_you":`...)
	b = append(orNull(b, p.thankYou), `,"custom_fields":`...)
	b = append(append(b, p.customFields...), `,"deliverables":[],"delivery_updates":"`...)
	b = append(append(b, p.deliveryUpdates...), `","price_variants":`...)
	b = append(append(b, p.variants...), `,"default_price_variant":`...)
	b = append(orNull(b, p.defaultVariant), `,"price_range":`...)
	b = append(p.appendRange(b), `,"sales_count":`...)
	b = append(strconv.AppendInt(b, p.sales, 10), `,"published_at":`...)
	if p.publishedAt.Valid {
		b = appendTime(b, p.publishedAt.Int64)
	} else {
		b = append(b, "null"...)
	}
	b = append(orNull(append(b, `,"seo_title":`...), p.seoTitle), `,"seo_description":`...)
	b = append(orNull(b, p.seoDescription), `,"external_id":`...)
	b = append(orNull(b, p.externalID), `,"metadata":`...)
	b = append(append(b, p.metadata...), `,"created_at":`...)
	b = append(appendTime(b, p.createdAt), `,"updated_at":`...)
	return append(appendTime(b, p.updatedAt), '}')
}

func (p *product) appendRange(b []byte) []byte {
	if !p.currency.Valid {
		return append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `{"min_amount":`...), p.minAmount.Int64, 10)
	b = strconv.AppendInt(append(b, `,"max_amount":`...), p.maxAmount.Int64, 10)
	return append(append(append(b, `,"currency":"`...), p.currency.String...), `"}`...)
}

func quote(b []byte, s string) []byte {
	text, _ := json.Marshal(s)
	return append(b, text...)
}

func orNull(b []byte, s sql.NullString) []byte {
	if !s.Valid {
		return append(b, "null"...)
	}
	return quote(b, s.String)
}

func appendTime(b []byte, micros int64) []byte {
	return append(time.UnixMicro(micros).UTC().AppendFormat(append(b, '"'), "2006-01-02T15:04:05.000Z"), '"')
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (f *floor) get(w http.ResponseWriter, r *http.Request, account string) {
	ref := r.PathValue("ref")
	var p product
	var err error
	if strings.HasPrefix(ref, "prod_") {
		err = p.scan(f.byID.QueryRow(account, ref).Scan)
	} else {
		err = p.scan(f.bySlug.QueryRow(account, account, "product", ref).Scan)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	answer(w, http.StatusOK, p.append(make([]byte, 0, 1024)))
}

func (f *floor) list(w http.ResponseWriter, _ *http.Request, account string) {
	const limit = 20
	rows, err := f.list20.Query(account, limit)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer rows.Close()
	b := append(make([]byte, 0, 20*1024), `{"object":"list","data":[`...)
	n := 0
	for ; rows.Next(); n++ {
		var p product
		if err := p.scan(rows.Scan); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if n >= limit {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = p.append(b)
	}
	b = strconv.AppendBool(append(b, `],"has_more":`...), n > limit)
	answer(w, http.StatusOK, append(b, `,"url":"/v1/products"}`...))
}

// post makes a product in one transaction: the key's claim, the slug, the row, the event, the recorded answer.
func (f *floor) post(w http.ResponseWriter, r *http.Request, account string) {
	data, err := io.ReadAll(r.Body)
	var in struct{ Name, Headline string }
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	var body []byte
	if err == nil {
		body, err = f.create(account, r.Header.Get("Idempotency-Key"), in.Name, in.Headline, data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, http.StatusCreated, body)
}

func newID(prefix string) string { return prefix + strings.ToLower(ulid.Make().String()) }

func (f *floor) create(account, key, name, headline string, sent []byte) ([]byte, error) {
	now := time.Now().UnixMicro()
	p := product{account: account, id: newID("prod_"), name: name, slug: strings.ReplaceAll(strings.ToLower(name), " ", "-"),
		headline: sql.NullString{String: headline, Valid: true}, status: "draft", kind: "digital", visibility: "public",
		images: "[]", customFields: "[]", deliveryUpdates: "all_buyers", variants: "[]", metadata: "{}", seq: 1, createdAt: now, updatedAt: now}
	fingerprint := sha256.Sum256(sent)
	token := newID("")
	body := p.append(make([]byte, 0, 1024))
	tx, err := f.write.Begin()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	var effect string
	if err := tx.Stmt(f.claim).QueryRow(account, key, fingerprint[:], token, newID(""), now+60e6, now+86400e6, now, now, now, now).Scan(&effect); err != nil {
		return nil, err
	}
	event := newID("whev_")
	payload := append([]byte(`{"id":"`+event+`","created_at":"`), `","type":"product.created","api_version":"v1","data":`...)
	payload = append(append(payload, body...), '}')
	for _, step := range []struct {
		statement *sql.Stmt
		args      []any
	}{
		{f.slug, []any{account, "product", p.slug, p.id}},
		{f.insert, p.values()},
		{f.event, []any{account, event, "product.created", p.id, 1, string(payload), now}},
		{f.activity, []any{account, newID("act_"), "api_key", token, "bench", "createProduct", "product", p.id, nil, "products:read", nil, newID("req_"), "127.0.0.1", now}},
	} {
		if _, err := tx.Stmt(step.statement).Exec(step.args...); err != nil {
			return nil, err
		}
	}
	if err := drain(tx.Stmt(f.subscribers).Query(account)); err != nil {
		return nil, err
	}
	if _, err := tx.Stmt(f.record).Exec(http.StatusCreated, body, account, key, token); err != nil {
		return nil, err
	}
	return body, tx.Commit()
}

func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { // nobody has subscribed
	}
	return rows.Err()
}

func (p *product) values() []any {
	return []any{p.account, p.id, p.name, p.slug, p.description, p.headline, p.status, p.kind, p.visibility, p.images,
		p.coverURL, p.taxCode, p.callToAction, p.thankYou, p.customFields, p.delivers, p.deliveryUpdates, p.variants, p.defaultVariant,
		p.minAmount, p.maxAmount, p.currency, p.recurring, p.sales, p.publishedAt, p.seoTitle, p.seoDescription,
		p.externalID, p.metadata, p.seq, p.createdAt, p.updatedAt}
}
