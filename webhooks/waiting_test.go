package webhooks

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

func endpointNumbered(i int) outbox.PendingEndpoint {
	return outbox.PendingEndpoint{AccountID: "acct_1", EndpointID: "we_" + strconv.Itoa(i)}
}

func TestWaiting_CountsWhatItIsTold(t *testing.T) {
	t.Parallel()
	w := waiting{}
	e := endpointNumbered(1)
	w.add(e, 2)
	w.add(e, 3)
	require.Equal(t, 5, w[e.EndpointID].deliveries)
	w.find(e)
	w.add(e, 1)
	require.Equal(t, unknown, w[e.EndpointID].deliveries, "a scan does not know how many")
	e.Format = outbox.WebhookFormatSlack
	w.add(e, 1)
	require.Equal(t, outbox.WebhookFormatSlack, w[e.EndpointID].Format, "as it is now")
}

func TestWaiting_RemembersOnlySoMany(t *testing.T) {
	t.Parallel()
	w := waiting{}
	for i := range waitingLimit {
		w.find(endpointNumbered(i))
	}
	w[endpointNumbered(7).EndpointID].asked = true
	w.add(endpointNumbered(waitingLimit), 1)
	require.Len(t, w, 2, "a scan finds the others again")
	require.True(t, w[endpointNumbered(7).EndpointID].asked, "a round claims for this one")
}

func TestNews_AreHandedOverOnce(t *testing.T) {
	t.Parallel()
	n := newNews()
	n.add(endpointNumbered(1), 1)
	n.add(endpointNumbered(1), 2)
	n.add(endpointNumbered(2), 1)
	require.Len(t, n.come, 1)
	require.Equal(t, map[outbox.PendingEndpoint]int{endpointNumbered(1): 3, endpointNumbered(2): 1}, n.takeNews())
	require.Empty(t, n.takeNews())
}
