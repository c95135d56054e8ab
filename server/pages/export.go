package pages

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/export"
	"github.com/tillwright/tillwright/store/signed"
)

const (
	// exportsAtOnce is how many exports read a page of rows at the same time. It is small, so that most connections to the
	// database are left to others.
	exportsAtOnce = 2
	// exportPatience is how long a client may take to receive a page of rows.
	exportPatience = 2 * time.Minute
)

// rows reads a page of an export: the rows after a position, and the position of the last of them. That is empty if there are no more. The
// first page is after the empty position.
type rows func(ctx context.Context, after string) (rows [][]string, last string, err error)

// export answers with a CSV file of any size, which is read and written page by page. If the first page cannot be read in time
// because of others, it answers 503. An error after that breaks the connection (package server), so that nobody takes a part
// for the whole.
func (p *Pages) export(c echo.Context, account, name string, head []string, read rows) error {
	ctx := c.Request().Context()
	next := p.inTurn(newAsker(account, caller.Address(ctx)), read)
	began, cancel := context.WithTimeoutCause(ctx, p.documents.patience, errBusy)
	page, last, err := next(began, "")
	cause := context.Cause(began)
	cancel()
	switch {
	case errors.Is(err, errCrowded), err != nil && errors.Is(cause, errBusy):
		return p.busy(c)
	case err != nil:
		return p.refuse(c, err)
	}
	p.private(c)
	response := c.Response()
	response.Header().Set(echo.HeaderContentType, "text/csv; charset=utf-8; header=present")
	response.Header().Set(echo.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="%s.csv"`, name))
	response.WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	patience := http.NewResponseController(response)
	file := csv.NewWriter(response)
	_ = file.Write(head) // the writer keeps the error
	for {
		_ = patience.SetWriteDeadline(time.Now().Add(exportPatience)) // a connection without deadlines needs none
		if err := file.WriteAll(page); err != nil {
			return err // the client is gone
		}
		if last == "" {
			return nil
		}
		if page, last, err = next(ctx, last); err != nil {
			return err
		}
	}
}

// inTurn lets read wait for the asker's turn before each page. The turn ends with the page: while a slow client receives it,
// others read.
func (p *Pages) inTurn(who asker, read rows) rows {
	return func(ctx context.Context, after string) ([][]string, string, error) {
		release, err := p.exports.waitTurn(ctx, who)
		if err != nil {
			return nil, "", err
		}
		defer release()
		return read(ctx, after)
	}
}

// errNoKey says that a file of a list was asked for by an API key that serves no more.
var errNoKey = errors.New("the API key serves no more")

// list exports a list with its own query, newest first, as long as the API key that asked for it serves. If the key does not serve any more it
// is 410, or the file breaks off.
func (p *Pages) list(c echo.Context, f *signed.File) error {
	list, err := export.Find(p.store, f.List)
	if err != nil {
		return err
	}
	read, err := list.Rows(f.Account, f.Query)
	if err != nil {
		return err
	}
	err = p.export(c, f.Account, f.List, list.Head, func(ctx context.Context, after string) ([][]string, string, error) {
		if serves, err := p.store.Tenant.KeyServes(ctx, f.Account, f.Key, f.Scopes); err != nil || !serves {
			return nil, "", cmp.Or(err, errNoKey)
		}
		return read(ctx, after)
	})
	if errors.Is(err, errNoKey) && !c.Response().Committed {
		return p.tell(c, http.StatusGone, outdated(p.spoken(c)))
	}
	return err
}
