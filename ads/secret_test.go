package ads

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSecret_IsShownNowhere(t *testing.T) {
	t.Parallel()
	conn := Conn{Token: "EAAB-token"}
	text, err := json.Marshal(conn.Token)
	require.NoError(t, err)
	for _, shown := range []string{fmt.Sprint(conn.Token), fmt.Sprintf("%v %+v %#v %s %q", conn, conn, conn, conn.Token, conn.Token), conn.Token.LogValue().String(), string(text)} {
		assert.NotContains(t, shown, "EAAB")
	}
	assert.Equal(t, "EAAB-token", conn.Token.Reveal())
}
