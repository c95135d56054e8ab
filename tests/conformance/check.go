package conformance

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// T is what a check tells how it goes: a test, or the recorder of a run.
type T interface {
	TB
	// Run checks a part, for one operation say. A Fatal in it ends the part alone.
	Run(name string, part func(t T))
	// NotChecked says what could not be asked, and why.
	NotChecked(format string, args ...any)
}

// Subject is a server that is held to the contract, with an account on it in which there is something to be asked for.
type Subject struct {
	*World
	// Fresh returns the account's client for a part of a check. Its key has requests left.
	Fresh func(t TB) *Client
	// Stranger returns a client without a key. Of each number it has requests of its own left, if the server can be asked from several addresses.
	Stranger func(t TB, number int) *Client
	// Revoked is a key that worked and was deleted, "" without one.
	Revoked string
	// Thorough tries each case with each operation. Otherwise the operations take turns, which spares the quota.
	Thorough bool
	// ReadsOnly leaves out whatever might change something, even if it ought to be refused.
	ReadsOnly bool
	// Tag is in the names of all that a check makes.
	Tag      string
	receiver *receiver              // of webhooks; nil if the server reaches none
	isMade   func(path string) bool // whether what is there was made for the checks; nil if that is not known
	// Concerned says which operations are asked for; nil is all.
	Concerned func(op *Operation) bool
}

// Mark returns a name for something that a check makes.
func (s *Subject) Mark() string { return "Conformance " + s.Tag }

// Every runs a check for each operation that it concerns. Turn counts them.
func (s *Subject) Every(t T, concerns func(*Operation) bool, check func(t T, op *Operation, turn int)) {
	t.Helper()
	n := 0
	for _, op := range s.Document.Operations {
		if !concerns(op) || !s.concerns(op) {
			continue
		}
		n++
		t.Run(op.ID, func(t T) { check(t, op, n-1) })
	}
	if n == 0 {
		t.NotChecked("no operation is concerned")
	}
}

// concerns reports whether an operation may be asked for at all.
func (s *Subject) concerns(op *Operation) bool {
	return (!s.ReadsOnly || !op.IsWrite()) && (s.Concerned == nil || s.Concerned(op))
}

// turns returns the cases that an operation is tried with: all, or so many as it is its turn for.
func turns[C any](s *Subject, turn, atOnce int, cases []C) []C {
	if s.Thorough || len(cases) <= atOnce {
		return cases
	}
	var mine []C
	for i := range atOnce {
		mine = append(mine, cases[(turn*atOnce+i)%len(cases)])
	}
	return mine
}

// request returns the path, with a query, and the body of an operation's example. It says so if there is nothing to ask for.
func (s *Subject) request(t T, op *Operation, query string, instead ...string) (path string, body any, ok bool) {
	t.Helper()
	path, err := s.At(op, query, instead...)
	if err == nil {
		body, err = s.Body(op)
	}
	if err == nil && op.ID == "createAISite" && s.lacksSite() {
		err = errNoSite
	}
	if err != nil {
		t.NotChecked("%v", err)
	}
	if object, is := body.(map[string]any); is && !s.Thorough { // it may be done by a server that ought to refuse it
		s.rename(object)
	}
	return path, body, err == nil
}

// errNoSite is why no site is made.
var errNoSite = errors.New("the account has no site, and its first one could not be taken away")

// lacksSite reports whether a site that is made would be the first one of an account, which keeps it.
func (s *Subject) lacksSite() bool { return s.isMade != nil && s.Found["site"] == "" }

// All is a check of each operation.
func All(*Operation) bool { return true }

// Private operations need a key.
func Private(op *Operation) bool { return !op.Public }

// Gets only read.
func Gets(op *Operation) bool { return !op.IsWrite() }

// WithBody are those whose request has a body.
func WithBody(op *Operation) bool { return op.BodySchema() != nil }

// NeedsAKey asks for each operation without a key, and with what is none.
func NeedsAKey(t T, s *Subject) {
	credentials := [][2]string{{"missing", ""}, {"malformed", "Bearer nonsense"}, {"other scheme", "Basic " + s.Key}}
	if s.Revoked != "" {
		credentials = append(credentials, [2]string{"revoked", "Bearer " + s.Revoked})
	}
	s.Every(t, Private, func(t T, op *Operation, turn int) {
		path, body, ok := s.request(t, op, "")
		if !ok {
			return
		}
		for i, credential := range turns(s, turn, 1, credentials) {
			resp := s.Stranger(t, i).Do(t, op.Method, path, body, "Authorization", credential[1])
			resp.Fault(t, http.StatusUnauthorized, "authentication_required")
			if t.Failed() {
				t.Fatalf("the credential was %s", credential[0])
			}
		}
	})
}

// RefusesOtherMethods sends methods that a path does not have.
func RefusesOtherMethods(t T, s *Subject) {
	methods := map[string][]string{}
	first := map[string]*Operation{} // of a path, that is concerned
	for _, op := range s.Document.Operations {
		methods[op.Path] = append(methods[op.Path], op.Method)
		if _, err := s.Path(op); err == nil && first[op.Path] == nil && s.concerns(op) {
			first[op.Path] = op
		}
	}
	s.Every(t, func(op *Operation) bool { return first[op.Path] == op }, func(t T, op *Operation, turn int) {
		path, err := s.Path(op)
		if err != nil {
			t.Fatal(err)
		}
		var others []string
		for _, method := range []string{http.MethodPut, http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			if !slices.Contains(methods[op.Path], method) && (method == http.MethodPut || method == http.MethodGet || s.Thorough) { // a server that has another one may do it
				others = append(others, method)
			}
		}
		client := s.Fresh(t)
		for _, method := range turns(s, turn, 1, others) {
			resp := client.Do(t, method, path, nil)
			resp.Fault(t, http.StatusMethodNotAllowed, "method_not_allowed")
			if got := strings.Split(strings.ReplaceAll(resp.Header.Get("Allow"), " ", ""), ","); !sameSet(got, methods[op.Path]) {
				t.Errorf("%s %s: Allow is %v, the operations are %v", method, path, got, methods[op.Path])
			}
		}
	})
}

// sameSet compares without order; HEAD and OPTIONS are the server's own affair.
func sameSet(got, want []string) bool {
	for _, m := range want {
		if !slices.Contains(got, m) {
			return false
		}
	}
	for _, m := range got {
		if m != http.MethodHead && m != http.MethodOptions && !slices.Contains(want, m) {
			return false
		}
	}
	return true
}

// HasNoUnknownRoute asks for paths that are none.
func HasNoUnknownRoute(t T, s *Subject) {
	client := s.Fresh(t)
	for _, path := range []string{"/v1/nothing", "/v1/products/prod_x/nothing", "/v1/products/", "/v1//products", "/v1/Products", "/public/nothing"} {
		client.Do(t, http.MethodGet, path, nil).Fault(t, http.StatusNotFound, "resource_missing")
	}
	s.Stranger(t, 0).Do(t, http.MethodGet, "/v1/nothing", nil).Fault(t, http.StatusUnauthorized, "authentication_required")
}

// Answers asks for all that can be read. The transport checks the answers.
func Answers(t T, s *Subject) {
	s.Every(t, Gets, func(t T, op *Operation, _ int) {
		path, _, ok := s.request(t, op, "")
		if !ok {
			return
		}
		if resp := s.Fresh(t).Do(t, op.Method, path, nil); !s.excuses(t, op, resp) && resp.Status >= 300 {
			t.Errorf("the example of %s is answered %d: %s", op.ID, resp.Status, resp.Body)
		}
	})
}

// excuses reports whether an answer may be no success for the state of the account that was found. It says that nothing was checked then.
func (s *Subject) excuses(t T, op *Operation, resp *Response) bool {
	t.Helper()
	excused := !s.Thorough && op.Documents(resp.Status) &&
		(resp.Status == http.StatusConflict || resp.Status == http.StatusUnprocessableEntity || resp.Status == http.StatusForbidden && resp.faultCode() == "forbidden")
	if excused {
		t.NotChecked("it is answered %d %s, perhaps for the state of the account", resp.Status, resp.faultCode())
	}
	return excused
}

func (r *Response) faultCode() string {
	if f, err := ParseFault(r.Body); err == nil {
		return f.Code
	}
	return ""
}

// HidesWhatIsNotThere asks for well-formed ids that name nothing.
func HidesWhatIsNotThere(t T, s *Subject) {
	one := func(op *Operation) bool {
		return Private(op) && Gets(op) && len(op.PathParameters()) > 0 && op.PathParameters()[0] == "id" && !slices.Contains(networkKinds, op.Prefix())
	}
	s.Every(t, one, func(t T, op *Operation, _ int) {
		prefix := op.Prefix()
		if prefix == "" {
			t.NotChecked("the document says no prefix of its ids")
			return
		}
		path := strings.Replace(op.Path, "{id}", RandomID(prefix), 1)
		for _, name := range op.PathParameters()[1:] {
			path = strings.Replace(path, "{"+name+"}", "1", 1)
		}
		for _, p := range op.QueryParameters() {
			if p.Required {
				return // what is wrong with it comes first
			}
		}
		resp := s.Fresh(t).Do(t, op.Method, path, nil)
		if resp.faultCode() == "account_not_activated" {
			t.NotChecked("no channel is activated for ads")
			return
		}
		resp.Fault(t, http.StatusNotFound, "resource_missing")
	})
}

// CountsRequests asks twice, and compares what is left of the quota.
func CountsRequests(t T, s *Subject) {
	client := s.Fresh(t)
	for range 3 { // a minute may begin on the way
		first, second := client.Do(t, http.MethodGet, "/v1/account", nil), client.Do(t, http.MethodGet, "/v1/account", nil)
		if first.Header.Get("X-RateLimit-Reset") != second.Header.Get("X-RateLimit-Reset") {
			continue
		}
		before, err := quota(first.Header, "RateLimit", "r", "t")
		if err != nil {
			return // the transport said so
		}
		after, err := quota(second.Header, "RateLimit", "r", "t")
		if err == nil && before["r"] > 0 && after["r"] >= before["r"] {
			t.Errorf("after a request %d are left, after another one %d", before["r"], after["r"])
		}
		return
	}
	t.NotChecked("each time a minute began between two requests")
}
