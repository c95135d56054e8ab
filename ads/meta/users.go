package meta

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// key is a column of a table of people: an identifier, or a detail such as the city.
type key struct{ field, word string }

// keys are Meta's words for what it matches people by, in the order of the columns.
var keys = []key{
	{string(advert.IdentifierEmail), "EMAIL"}, {string(advert.IdentifierPhone), "PHONE"}, {"first_name", "FN"}, {"last_name", "LN"},
	{"city", "CT"}, {"state", "ST"}, {"country", "COUNTRY"}, {"zip", "ZIP"},
}

// payload is a table of people, with a hash or "" in each column.
type payload struct {
	Schema []string   `json:"schema"`
	Data   [][]string `json:"data"`
}

// received says what became of the people of one session.
type received struct {
	Received int `json:"num_received"`
	Invalid  int `json:"num_invalid_entries"`
}

// UploadUsers implements ads.Network. A user with an email and a phone number is one row. Each call is a session of its
// own, so that the numbers that Meta answers are those of this call.
func (n *Network) UploadUsers(ctx context.Context, c ads.Conn, u ads.Upload) (ads.Uploaded, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	if u.Audience.PlatformID == nil {
		return ads.Uploaded{}, ads.ErrNotFound
	}
	accepted := len(u.Members)
	for people := range slices.Chunk(peopleOf(u.Members), n.caps.UsersPerCall) {
		answer, err := n.send(ctx, c, http.MethodPost, u.Audience, tableOf(people))
		if err != nil {
			return ads.Uploaded{}, err
		}
		accepted -= answer.Invalid
	}
	audience := u.Audience
	audience.Status = advert.AudienceStatusProcessing
	return ads.Uploaded{Audience: audience, Accepted: max(accepted, 0)}, nil
}

// RemoveUsers implements ads.Network. Meta takes up to a day to count those who are left.
func (n *Network) RemoveUsers(ctx context.Context, c ads.Conn, u ads.Upload) (advert.Audience, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	if u.Audience.PlatformID == nil {
		return advert.Audience{}, ads.ErrNotFound
	}
	for people := range slices.Chunk(peopleOf(u.Members), n.caps.UsersPerCall) {
		if _, err := n.send(ctx, c, http.MethodDelete, u.Audience, tableOf(people)); err != nil {
			return advert.Audience{}, err
		}
	}
	audience := u.Audience
	audience.Status = advert.AudienceStatusProcessing
	return audience, nil
}

// send adds the people of a table to an audience, or takes them out of it. If Meta did not receive all of them, the error is
// ErrIndeterminate.
func (n *Network) send(ctx context.Context, c ads.Conn, method string, audience advert.Audience, people payload) (received, error) {
	rows := len(people.Data)
	session := map[string]any{"session_id": rand.Int64N(1<<53) + 1, "batch_seq": 1, "last_batch_flag": true, "estimated_num_total": rows}
	params := url.Values{"payload": {jsonText(people)}, "session": {jsonText(session)}}
	var answer received
	err := signedTerms(n.graph.write(ctx, method, c.Token, place{*audience.PlatformID, "users"}, params, &answer), audience.AdAccountID)
	if err == nil && answer.Received != rows {
		return answer, fmt.Errorf("%w: %d of %d people were received", ads.ErrIndeterminate, answer.Received, rows)
	}
	return answer, err
}

// person holds the hashes of one person, by field.
type person map[string]string

// peopleOf puts the identifiers of each user together into one person. A second identifier of the same kind begins
// another person.
func peopleOf(members []advert.Member) []person {
	var people []person
	last := -1
	for _, m := range members {
		if len(people) == 0 || m.Index != last || people[len(people)-1][string(m.Kind)] != "" {
			people = append(people, person{})
			maps.Copy(people[len(people)-1], m.Details)
		}
		people[len(people)-1][string(m.Kind)], last = m.Hash, m.Index
	}
	return people
}

// tableOf makes a table of people, with a column for each key that at least one of them has.
func tableOf(people []person) payload {
	var columns []key
	for _, k := range keys {
		if slices.ContainsFunc(people, func(p person) bool { return p[k.field] != "" }) {
			columns = append(columns, k)
		}
	}
	var table payload
	for _, k := range columns {
		table.Schema = append(table.Schema, k.word)
	}
	for _, p := range people {
		row := make([]string, len(columns))
		for i, k := range columns {
			row[i] = p[k.field]
		}
		table.Data = append(table.Data, row)
	}
	return table
}
