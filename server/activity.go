package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
)

// read is an operation that reads, with its handler behind none of the checks.
type read struct {
	op     *Operation
	handle echo.HandlerFunc
}

// line is what a write request leaves behind in the list of what was done. Before and after are the object as the API shows it. Before is
// the answer of the operation that reads it, in the transaction and just before the change. After is what the write answers.
type line struct {
	server *Server
	c      echo.Context
	op     *Operation
	read   read // of what the request is about, the zero value if nothing reads that
	before activity.Fields
}

// lineOf returns the line of a request.
func (s *Server) lineOf(c echo.Context, op *Operation) *line {
	return &line{server: s, c: c, op: op, read: s.readOf(op)}
}

// byExternalID is the end of the paths of operations that change what has the account's own id, which their body says.
const byExternalID = "/by_external_id"

// readOf returns the operation that reads what another one changes: at the same path, up to the first parameter if there is one. For what is
// named by the account's own id it is the list. What is at an ad network is not read again: GET /ads/actions says what became different.
func (s *Server) readOf(op *Operation) read {
	path, isNamed := strings.CutSuffix(op.Path, byExternalID)
	if isNamed {
		return s.reads[path]
	}
	if at := strings.Index(path, "}"); at >= 0 {
		path = path[:at+1]
	} else if op.Method != http.MethodPatch {
		return read{}
	}
	if op.ExternalEffect && strings.HasPrefix(path, "/ads/") {
		return read{}
	}
	return s.reads[path]
}

// look reads what the request is about to change. What does not exist is nothing.
func (l *line) look(ctx context.Context) error {
	if l.read.op == nil {
		return nil
	}
	rec := &recorder{header: http.Header{}}
	query, isNamed := url.Values{}, strings.HasSuffix(l.op.Path, byExternalID)
	if isNamed {
		query.Set("external_id", fmt.Sprint(bodyOf(l.c)["external_id"]))
	}
	r := (&http.Request{Method: http.MethodGet, URL: &url.URL{Path: l.read.op.Path, RawQuery: query.Encode()}, Header: http.Header{}, Body: http.NoBody}).WithContext(ctx)
	c := l.server.echo.NewContext(r, nil)
	c.SetResponse(echo.NewResponse(rec, l.server.echo))
	c.SetPath(l.read.op.Pattern)
	c.SetParamNames(l.c.ParamNames()...)
	c.SetParamValues(l.c.ParamValues()...)
	err := l.read.handle(c)
	var refused *core.Error
	switch {
	case errors.As(err, &refused):
		return nil
	case err != nil:
		return err
	}
	if l.before = activity.ReadFields(rec.body.Bytes()); isNamed {
		if l.before = l.before.First("data"); l.before.Text("external_id") != query.Get("external_id") {
			l.before = nil // there is none
		}
	}
	return nil
}

// write stores the line, if the request succeeded and has changed something.
func (l *line) write(ctx context.Context, answer *core.Answer) error {
	if answer == nil || answer.Status >= http.StatusMultipleChoices || l.op.Unlogged || !l.server.store.Activity.HasChanged(ctx) {
		return nil
	}
	who := caller.Of(ctx)
	a := activity.Activity{
		AccountID: who.Account, ActorType: activity.ActorAPIKey, ActorID: who.KeyID, ActorName: &who.KeyName, Operation: l.op.ID,
		RequestID: &who.RequestID, IP: &who.Address, Scope: l.scope(),
	}
	if who.PersonID != "" {
		a.ActorType, a.ActorID, a.ActorName = activity.ActorPerson, who.PersonID, &who.Email
	}
	l.describe(&a, answer)
	if l.op.Public {
		account, err := l.server.accountOf(l.c, l.op)
		if err != nil {
			return err
		}
		if a.TargetObject == string(core.KindCheckout) && a.TargetID != nil {
			if a.CustomerID, err = l.server.store.Checkout.CustomerOf(ctx, account, *a.TargetID); err != nil {
				return err
			}
		}
		a.AccountID, a.ActorType, a.ActorID, a.ActorName, a.IP = account, activity.ActorCustomer, core.Deref(a.CustomerID), nil, nil
	}
	return l.server.store.Activity.Record(ctx, a)
}

// describe says in a line what the request was about, and what became different of it. That is what was read before, unless the answer
// has made something else, or has deleted a part of it.
func (l *line) describe(a *activity.Activity, answer *core.Answer) {
	after := activity.ReadFields(answer.Body)
	target, isDeleted := after, after["deleted"] != nil
	if l.before != nil && answer.Status != http.StatusCreated && !(isDeleted && after.Text("id") != l.before.Text("id")) {
		target = l.before
		switch {
		case isDeleted:
			a.Changes.V = activity.Diff(l.before, nil)
		case after.Text("id") == target.Text("id") && after.Text("object") == target.Text("object"):
			a.Changes.V = activity.Diff(l.before, after)
		}
	}
	a.TargetObject = target.Text("object")
	if id := target.Text("id"); id != "" {
		a.TargetID = &id
	}
	if made := caller.Of(l.c.Request().Context()).Made; made.ID != "" {
		a.TargetObject, a.TargetID = made.Kind, &made.ID
	}
	for _, object := range []activity.Fields{l.before, after} {
		of := object.Ref("customer")
		if object.Text("object") == string(core.KindCustomer) {
			of = object.Text("id")
		}
		if of != "" {
			a.CustomerID = &of
		}
	}
}

// scope returns what an API key needs to read the object. What a public operation changes is read by the list of that resource.
func (l *line) scope() string {
	of := l.read.op
	if l.op.Public {
		of = l.server.reads["/"+l.op.resource()].op
	}
	if of == nil {
		return ""
	}
	return of.Scope
}
