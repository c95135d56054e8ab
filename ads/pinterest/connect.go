package pinterest

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

var _ ads.Connector = (*Driver)(nil)

// user is the account of whoever gave a token, as the network writes it.
type user struct {
	ID           string `json:"id"`
	Username     string `json:"username"`
	BusinessName string `json:"business_name"`
}

// Profiles implements ads.Connector. A token is of one account.
func (d *Driver) Profiles(ctx context.Context, c ads.Conn) ([]advert.SocialProfile, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var u user
	if err := d.read(ctx, c, path("user_account"), nil, &u); err != nil {
		return nil, err
	}
	return []advert.SocialProfile{{ID: u.ID, Username: u.Username, Name: orDefault(u.BusinessName, u.Username)}}, nil
}
