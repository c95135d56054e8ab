package meta

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store"
)

// keys are Meta's words for identifiers, in the order of the columns of a row.
var keys = []key{{store.AdIdentifierEmail, "EMAIL"}, {store.AdIdentifierPhone, "PHONE"}}

type key struct {
	kind store.AdIdentifier
	word string
}

// payload is a table of people: a column per key, a hash or "" in each.
type payload struct {
	Schema []string   `json:"schema"`
	Data   [][]string `json:"data"`
}

// received is what Meta says about the people of one session.
type received struct {
	Received int `json:"num_received"`
	Invalid  int `json:"num_invalid_entries"`
}

// UploadUsers implements ads.Network. A user with an email and a phone number is one row. Each call is a session of its
// own, so that Meta's numbers are those of the call.
func (n *Network) UploadUsers(ctx context.Context, c ads.Conn, u ads.Upload) (ads.Uploaded, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	if u.Audience.PlatformID == nil {
		return ads.Uploaded{}, ads.ErrNotFound
	}
	accepted := len(u.Members)
	for rows := range slices.Chunk(rowsOf(u.Members), n.caps.UsersPerCall) {
		answer, err := n.send(ctx, c, *u.Audience.PlatformID, rows)
		if err != nil {
			return ads.Uploaded{}, err
		}
		accepted -= answer.Invalid
	}
	audience := u.Audience
	audience.Status = store.AudienceStatusProcessing
	return ads.Uploaded{Audience: audience, Accepted: max(accepted, 0)}, nil
}

func (n *Network) send(ctx context.Context, c ads.Conn, audience string, rows [][]string) (received, error) {
	var schema []string
	for _, k := range keys {
		schema = append(schema, k.word)
	}
	session := map[string]any{"session_id": rand.Int64N(1<<53) + 1, "batch_seq": 1, "last_batch_flag": true, "estimated_num_total": len(rows)}
	params := url.Values{"payload": {jsonText(payload{schema, rows})}, "session": {jsonText(session)}}
	var answer received
	err := n.graph.post(ctx, c.Token, place{audience, "users"}, params, &answer)
	if err == nil && answer.Received != len(rows) {
		return answer, fmt.Errorf("%w: %d of %d people were received", ads.ErrIndeterminate, answer.Received, len(rows))
	}
	return answer, err
}

// rowsOf puts the identifiers of each user into one row, and a second of the same kind into another.
func rowsOf(members []store.AdMember) [][]string {
	var rows [][]string
	last := -1
	for _, m := range members {
		column := slices.IndexFunc(keys, func(k key) bool { return k.kind == m.Kind })
		if column < 0 {
			continue
		}
		if len(rows) == 0 || m.Index != last || rows[len(rows)-1][column] != "" {
			rows = append(rows, make([]string, len(keys)))
		}
		rows[len(rows)-1][column], last = m.Hash, m.Index
	}
	return rows
}
