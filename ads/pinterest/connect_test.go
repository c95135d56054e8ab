package pinterest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestProfiles_AreTheOneOfTheToken(t *testing.T) {
	w := newWorld("USD", nil)
	found, err := w.driver.Profiles(t.Context(), w.conn)
	require.NoError(t, err)
	id, name := w.net.User(secret)
	assert.Equal(t, []advert.SocialProfile{{ID: id, Username: name, Name: "Shop of " + name}}, found)
	w.net.Revoke(secret)
	_, err = w.driver.Profiles(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnauthorized)
}
