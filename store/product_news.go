package store

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// NewsStatus says how far news about a product has come.
type NewsStatus string

// The states of news.
const (
	NewsStatusScheduled NewsStatus = "scheduled" // it waits for its day
	NewsStatusSending   NewsStatus = "sending"   // its letters are being written and sent
	NewsStatusSent      NewsStatus = "sent"      // nothing is left to send
	NewsStatusCanceled  NewsStatus = "canceled"  // what was not sent stays so
)

// newsLifecycle lists, for each state of news, the states that may follow it.
var newsLifecycle = core.Lifecycle[NewsStatus]{
	NewsStatusScheduled: {NewsStatusSending, NewsStatusCanceled},
	NewsStatusSending:   {NewsStatusSent, NewsStatusCanceled},
}

// NewsAudience says to whom news is sent, as far as they agreed to news.
type NewsAudience string

// The audiences of news.
const (
	NewsAudienceBuyers   NewsAudience = "buyers" // who have the product, or had it until their access expired
	NewsAudienceEveryone NewsAudience = "everyone"
)

// Bounds of what a seller writes, and how far ahead of its day.
const (
	newsSubject = 150
	newsBody    = 20_000
	newsAhead   = 366 * core.Day
)

// ProductNews is a letter that a seller writes about a product, to customers who agreed to news. Its letters are written by a worker: see
// WriteNews.
type ProductNews struct {
	AccountID  string       `db:"account_id"`
	ID         string       `db:"id"`
	ProductID  string       `db:"product_id"`
	Subject    string       `db:"subject"`
	Body       string       `db:"body"` // Markdown
	Audience   NewsAudience `db:"audience"`
	Status     NewsStatus   `db:"status"`
	SendAt     *core.Time   `db:"send_at"`  // nil: at once
	DueAt      *core.Time   `db:"due_at"`   // SendAt of what is scheduled, by the account's clock
	TurnAt     *core.Time   `db:"turn_at"`  // by the store's time, while letters are still to be written
	AfterID    string       `db:"after_id"` // the grant of a buyer, or the customer, up to which letters are written
	Recipients int64        `db:"recipients"`
	Sent       int64        `db:"sent_count"`
	Failed     int64        `db:"failed_count"`
	Skipped    int64        `db:"skipped_count"`
	SentAt     *core.Time   `db:"sent_at"`
	CreatedAt  core.Time    `db:"created_at"`
	UpdatedAt  core.Time    `db:"updated_at"`
}

// NewProductNews is news that is to be sent.
type NewProductNews struct {
	Product  string // id or slug
	Subject  string
	Body     string
	Audience NewsAudience
	SendAt   *core.Time // nil: at once
}

// ListProductNews holds the filters of a list of news. An empty one does not filter.
type ListProductNews struct {
	core.Page
	core.ListFilter
	Product string // id or slug
	Status  NewsStatus
}

var newsColumns = db.ColumnsOf[ProductNews]("product_news")

// check returns CodeInvalid with the fields that are not acceptable.
func (n *NewProductNews) check(now core.Time) error {
	var p core.Problems
	p.Check(strings.TrimSpace(n.Subject) != "" && utf8.RuneCountInString(n.Subject) <= newsSubject, "subject", "A subject has 1 to 150 characters, not only white space.")
	p.Check(!strings.ContainsAny(n.Subject, "\r\n"), "subject", "A subject stands on one line.")
	p.Check(strings.TrimSpace(n.Body) != "" && utf8.RuneCountInString(n.Body) <= newsBody, "body", "A text has 1 to 20,000 characters, not only white space.")
	p.Check(n.SendAt == nil || *n.SendAt > now, "send_at", "Send a time in the future, or leave it out to send the news at once.")
	p.Check(n.SendAt == nil || *n.SendAt <= now.Add(newsAhead), "send_at", "Send a time within a year.")
	if utf8.RuneCountInString(n.Body) <= newsBody {
		_, problem := markdown.Render(n.Body)
		p.Check(problem == "", "body", problem)
	}
	return p.Err()
}

// GetProductNews returns news, or CodeMissing.
func (s *Store) GetProductNews(ctx context.Context, account, ref string) (*ProductNews, error) {
	return findNews(ctx, s.db, account, ref)
}

// ListProductNews returns a page of news, newest first, and whether there are more. A product that does not exist is CodeMissing.
func (s *Store) ListProductNews(ctx context.Context, account string, in ListProductNews) ([]ProductNews, bool, error) {
	var f db.Filter
	f.OrderedIfSet("product_id", db.IDNamed(ctx, s.db, &f, s.Catalog.ProductNamed, account, in.Product, "product"))
	f.OrderedIfSet("status", string(in.Status))
	f.List(s.db, "product_news", core.KindProductNews, in.ListFilter)
	return db.Page(ctx, s.db, newsColumns, core.KindProductNews, account, in.Page, &f)
}

// CreateProductNews has news sent: at once, or on its day. It is counted, as Mailbox.CountProductNews does.
func (s *Store) CreateProductNews(ctx context.Context, account string, in NewProductNews) (*ProductNews, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*ProductNews, error) {
		n, err := s.draftNews(ctx, u, account, in)
		if err != nil {
			return nil, err
		}
		if err := s.Mailbox.CountProductNews(ctx, account); err != nil {
			return nil, err
		}
		n.ID = core.NewID(core.KindProductNews)
		if n.SendAt != nil {
			n.Status, n.DueAt = NewsStatusScheduled, n.SendAt
		} else {
			n.Status, n.TurnAt = NewsStatusSending, new(s.Now())
		}
		return n, u.Insert(ctx, newsColumns, n)
	})
}

// draftNews returns news that is nowhere yet. A product that does not exist is CodeMissing.
func (s *Store) draftNews(ctx context.Context, r db.Reader, account string, in NewProductNews) (*ProductNews, error) {
	product, err := s.Catalog.ProductNamed(ctx, r, account, in.Product, "product")
	if err != nil {
		return nil, err
	}
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return nil, err
	}
	if err := in.check(now); err != nil {
		return nil, err
	}
	return &ProductNews{
		AccountID: account, ProductID: product.ID, Subject: in.Subject, Body: in.Body, Audience: in.Audience, SendAt: in.SendAt, CreatedAt: now, UpdatedAt: now,
	}, nil
}

// CancelProductNews has no more letters of news sent. Those that are written are skipped when their turn comes. News that is canceled stays as it is.
func (s *Store) CancelProductNews(ctx context.Context, account, ref string) (*ProductNews, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*ProductNews, error) {
		n, err := findNews(ctx, u.Locked(), account, ref)
		if err != nil || n.Status == NewsStatusCanceled {
			return n, err
		}
		return n, s.cancelNews(ctx, u, n)
	})
}

// cancelNews cancels locked news.
func (s *Store) cancelNews(ctx context.Context, u *db.Unit, n *ProductNews) error {
	if err := newsLifecycle.Check("news", n.Status, NewsStatusCanceled); err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, n.AccountID)
	if err != nil {
		return err
	}
	n.Status, n.DueAt, n.TurnAt, n.UpdatedAt = NewsStatusCanceled, nil, nil, now
	_, err = u.Exec(ctx, `UPDATE product_news SET status = 'canceled', due_at = NULL, turn_at = NULL, updated_at = ? WHERE account_id = ? AND id = ?`, now, n.AccountID, n.ID)
	return err
}

// findNews reads news, or returns CodeMissing.
func findNews(ctx context.Context, r db.Reader, account, ref string) (*ProductNews, error) {
	id, ok := core.ParseID(core.KindProductNews, ref)
	if !ok {
		return nil, core.Missing("product news", "", ref)
	}
	n, err := db.Get[ProductNews](ctx, r, newsColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read product news: %w", err)
	}
	if n == nil {
		return nil, core.Missing("product news", "", ref)
	}
	return n, nil
}
