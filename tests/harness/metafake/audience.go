package metafake

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
)

// createAudience creates a customer list, a website audience or a lookalike.
func (f *Fake) createAudience(r *request) (any, *Error) {
	p := r.params
	if p.Get("name") == "" {
		return nil, invalid("The parameter name is required")
	}
	if f.Unsigned {
		return nil, unsignedTerms(1870034)
	}
	fields := map[string]any{"account_id": r.account(), "name": p.Get("name"), "time_created": f.Now().Unix(), "time_updated": f.Now().Unix(),
		"approximate_count_lower_bound": -1, "approximate_count_upper_bound": -1}
	for _, name := range []string{"description", "rule", "pixel_id", "customer_file_source", "subtype"} {
		if p.Has(name) {
			fields[name] = p.Get(name)
		}
	}
	if days, err := strconv.Atoi(p.Get("retention_days")); err == nil {
		fields["retention_days"] = days
	}
	if e := f.checkAudience(r, fields); e != nil {
		return nil, e
	}
	if fields["subtype"] == nil {
		fields["subtype"] = "WEBSITE"
	}
	o := f.add("CustomAudience", fields)
	f.ready(o, 200, 200)
	return map[string]any{"id": o.id()}, nil
}

// unsignedTerms returns the error of rule U2 about terms that nobody has signed for the ad account.
func unsignedTerms(subcode int) *Error {
	e := broken("U2", subcode, "Accept the terms of custom audiences.")
	e.Code, e.Status = 200, http.StatusForbidden
	return e
}

// checkAudience checks what each kind of audience needs. A website audience has no subtype when it is made.
func (f *Fake) checkAudience(r *request, fields map[string]any) *Error {
	p := r.params
	switch subtype := p.Get("subtype"); {
	case subtype == "CUSTOM":
		if !p.Has("customer_file_source") {
			return broken("U2", 0, "customer_file_source says where the people come from and is needed.")
		}
	case subtype == "LOOKALIKE":
		return f.checkLookalike(r, fields)
	case subtype == "" && p.Has("rule"):
		if p.Has("retention_days") || p.Has("pixel_id") {
			return broken("U1", 0, "The rule says for how long, and of which pixel.")
		}
		return f.checkRule(r)
	default:
		return broken("U1", 0, "The subtype %q cannot be made here: send a rule alone.", subtype)
	}
	return nil
}

// checkRule checks the rule of a website audience: who is included, from which source, for how long.
func (f *Fake) checkRule(r *request) *Error {
	var rule struct {
		Inclusions struct {
			Operator string
			Rules    []struct {
				Sources []struct{ ID, Type string } `json:"event_sources"`
				Seconds int                         `json:"retention_seconds"`
				Filter  struct {
					Operator string
					Filters  []struct{ Field, Operator, Value string }
				}
			}
		}
	}
	r.decode("rule", &rule)
	rules := rule.Inclusions.Rules
	if rule.Inclusions.Operator == "" || len(rules) == 0 {
		return refused(1713098, "A rule includes somebody.")
	}
	one := rules[0]
	sourced := len(one.Sources) == 1 && one.Sources[0].ID != "" && one.Sources[0].Type != ""
	if !sourced || one.Seconds < 1 || one.Filter.Operator == "" || len(one.Filter.Filters) == 0 {
		return refused(1713098, "A rule names its source, its time and its filter.")
	}
	if x := one.Filter.Filters[0]; x.Field == "" || x.Operator == "" {
		return refused(1713098, "A filter names its field and its operator.")
	}
	return nil
}

// checkLookalike checks what a lookalike is made of, and adds that to its fields.
func (f *Fake) checkLookalike(r *request, fields map[string]any) *Error {
	origin := f.nodes[r.params.Get("origin_audience_id")]
	if origin == nil || origin.node != "CustomAudience" {
		return refused(1713007, "origin_audience_id must be an audience of this account.")
	}
	if e := f.checkOrigin(origin); e != nil {
		return e
	}
	var spec struct {
		Type, Country string
		Ratio         json.Number
	}
	r.decode("lookalike_spec", &spec)
	ratio, err := spec.Ratio.Float64()
	if spec.Country == "" || spec.Type == "" || err != nil || ratio < 0.01 || ratio > 0.2 {
		return broken("U4", 1713008, "lookalike_spec needs a type, a country and a ratio from 0.01 to 0.20.")
	}
	fields["lookalike_spec"] = map[string]any{"country": spec.Country, "ratio": spec.Ratio, "type": spec.Type,
		"origin": []map[string]string{{"id": origin.id(), "type": "custom_audience"}}}
	return nil
}

// checkOrigin refuses to find people who are like those of an audience that is flagged or too small: rules U5 and U4.
func (f *Fake) checkOrigin(origin *object) *Error {
	delivery, _ := origin.fields["delivery_status"].(map[string]any)
	switch {
	case isFlagged(origin):
		return broken("U5", 0, "The audience was flagged and cannot be used.")
	case delivery["code"] == 300, origin.text("subtype") == "CUSTOM" && len(f.members[origin.id()]) < 100:
		return broken("U4", 1713007, "The source has less than 100 people.")
	}
	return nil
}

// isFlagged reports whether an audience says something about people's health or money.
func isFlagged(audience *object) bool {
	if audience == nil {
		return false
	}
	operation, _ := audience.fields["operation_status"].(map[string]any)
	return operation["code"] == 471
}

// ready sets the two states of an audience.
func (f *Fake) ready(o *object, operation, delivery int) {
	description := "as it is"
	if operation == 471 { // rule U5
		description = "This audience was flagged: it may say something about health or money."
	}
	o.set(f.table, "operation_status", map[string]any{"code": operation, "description": description})
	o.set(f.table, "delivery_status", map[string]any{"code": delivery, "description": "as it is"})
}

// Grow sets how many people Meta found for an audience and the codes of its two states: 200 is good, 300 is too small.
func (f *Fake) Grow(id string, lower, upper, operation, delivery int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.nodes[id]
	o.set(f.table, "approximate_count_lower_bound", lower)
	o.set(f.table, "approximate_count_upper_bound", upper)
	f.ready(o, operation, delivery)
}

// upload is a session in which people are added to an audience by several calls.
type upload struct {
	received, invalid int
	last              bool
}

var hash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// maxUsers is how many people one call may have.
const maxUsers = 10_000

// changeUsers adds rows of hashes to a customer list, or takes them out of it. A row counts as an invalid entry if it has no identifier or something in it is no hash.
func (f *Fake) changeUsers(r *request) (any, *Error) {
	var payload struct {
		Schema []string
		Data   [][]string
	}
	var session struct {
		ID    int64 `json:"session_id"`
		Batch int   `json:"batch_seq"`
		Last  bool  `json:"last_batch_flag"`
		Total int   `json:"estimated_num_total"`
	}
	r.decode("payload", &payload)
	r.decode("session", &session)
	switch {
	case f.Unsigned:
		return nil, unsignedTerms(1870090)
	case r.node.text("subtype") != "CUSTOM":
		return nil, invalid("Only a customer list takes people.")
	case len(payload.Schema) == 0 || len(payload.Data) == 0:
		return nil, invalid("Param payload needs a schema and data")
	case len(payload.Data) > maxUsers:
		return nil, broken("U3", 1870145, "At most 10,000 people fit into one call.")
	case session.ID == 0 || session.Batch == 0 || session.Total == 0:
		return nil, invalid("Param session needs session_id, batch_seq and estimated_num_total")
	}
	return f.receive(r, payload.Schema, payload.Data, strconv.FormatInt(session.ID, 10), session.Last)
}

// receive adds the rows of one call to the session, and answers with what the session has received so far.
func (f *Fake) receive(r *request, schema []string, rows [][]string, session string, last bool) (any, *Error) {
	invalid := 0
	for _, row := range rows {
		if len(row) != len(schema) {
			return nil, refused(1870091, "A row has as many values as the schema has keys.")
		}
		if !f.enroll(r.id, schema, row, r.method == "POST") {
			invalid++
		}
	}
	if f.sessions[session] == nil {
		f.sessions[session] = &upload{}
	}
	s := f.sessions[session]
	if s.last {
		return nil, refused(1870092, "The session is closed.")
	}
	s.received, s.invalid, s.last = s.received+len(rows), s.invalid+invalid, last
	return map[string]any{"audience_id": r.id, "session_id": session, "num_received": s.received, "num_invalid_entries": s.invalid,
		"invalid_entry_samples": map[string]string{}}, nil
}

// enroll keeps the identifiers of a row, or forgets them, and reports whether the row is valid. Each value that is there must be a hash, and at least
// one must be an identifier.
func (f *Fake) enroll(audience string, schema, row []string, in bool) bool {
	if f.members[audience] == nil {
		f.members[audience] = map[string]bool{}
	}
	known := false
	for i, value := range row {
		if value == "" {
			continue
		}
		if !hash.MatchString(value) {
			return false
		}
		if schema[i] == "EMAIL" || schema[i] == "PHONE" {
			member := schema[i] + " " + value
			if f.members[audience][member], known = true, true; !in {
				delete(f.members[audience], member)
			}
		}
	}
	return known
}

// Members returns how many identifiers an audience has.
func (f *Fake) Members(audience string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.members[audience])
}
