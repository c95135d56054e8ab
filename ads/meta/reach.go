package meta

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/tillwright/tillwright/ads"
)

// reachNode is a guess of how many people a targeting reaches. A bound that Meta does not tell is -1.
type reachNode struct {
	Ready bool  `json:"estimate_ready"`
	Lower int64 `json:"users_lower_bound"`
	Upper int64 `json:"users_upper_bound"`
}

// Reach implements ads.Network.
func (n *Network) Reach(ctx context.Context, c ads.Conn, q ads.ReachQuery) (ads.Reach, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	node := reachNode{Lower: -1, Upper: -1}
	var answer struct{ Data json.RawMessage } // the guess, in a list or not: descriptions and answers differ
	params := url.Values{"targeting_spec": {q.Words.Text()}}
	if err := n.graph.get(ctx, c.Token, place{q.AdAccount.PlatformID, "reachestimate"}, params, &answer); err != nil {
		return ads.Reach{}, err
	}
	if err := json.Unmarshal(bytes.Trim(answer.Data, "[]"), &node); err != nil {
		return ads.Reach{}, fmt.Errorf("%w: the estimate cannot be read", ads.ErrUnavailable)
	}
	return ads.Reach{Lower: told(node.Lower), Upper: told(node.Upper), Ready: node.Ready}, nil
}

// told returns a bound, nil for one that Meta does not tell.
func told(bound int64) *int64 {
	if bound < 0 {
		return nil
	}
	return &bound
}
