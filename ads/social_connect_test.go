package ads_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestConnectSocialAccount_AsksWhoseTheTokenIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		page := &pages{Driver: sandbox.New(w.Advert, advert.PlatformInstagram, sandbox.Options{})}
		service := ads.New(w.Advert, ads.Drivers{"meta": {advert.PlatformInstagram: page}}, ads.Consents{}, nil)
		connect := func(in ads.ConnectSocialAccount) (*advert.SocialAccount, error) {
			in.Platform = "instagram"
			return service.ConnectSocialAccount(t.Context(), w.by.Account, in)
		}
		page.are = []advert.SocialProfile{{ID: "17", AlsoID: "1", Username: "shop", Name: "Shop"}}
		first, err := connect(ads.ConnectSocialAccount{Token: "one"})
		require.NoError(t, err)
		assert.Equal(t, []any{"17", "shop", "Shop"}, []any{first.PlatformID, first.Username, first.DisplayName})
		again, err := connect(ads.ConnectSocialAccount{Token: "two", PlatformID: "1"})
		require.NoError(t, err)
		assert.Equal(t, first.ID, again.ID)
		renewed, err := service.RenewSocialAccount(t.Context(), w.by.Account, first.ID, "three")
		require.NoError(t, err)
		assert.Equal(t, []any{first.ID, "shop"}, []any{renewed.ID, renewed.Username})

		page.are = append(page.are, advert.SocialProfile{ID: "18", Name: "Other"})
		_, err = connect(ads.ConnectSocialAccount{Token: "four"})
		e := refused(t, err, core.CodeInvalid, "platform_account_id")
		assert.Contains(t, e.Message, "17 (Shop), 18 (Other)")
		_, err = connect(ads.ConnectSocialAccount{Token: "four", PlatformID: "19"})
		refused(t, err, core.CodeInvalid, "platform_account_id")
		other, err := connect(ads.ConnectSocialAccount{Token: "four", PlatformID: "18"})
		require.NoError(t, err)
		assert.NotEqual(t, first.ID, other.ID)

		page.are = page.are[1:]
		_, err = service.RenewSocialAccount(t.Context(), w.by.Account, first.ID, "five")
		refused(t, err, core.CodeInvalid, "token")
		_, err = service.RenewSocialAccount(t.Context(), w.by.Account, first.ID, "")
		refused(t, err, core.CodeParameterMissing, "token")
		_, err = service.RenewSocialAccount(t.Context(), w.by.Account, "sacct_1", "five")
		refused(t, err, core.CodeMissing, "")
		_, err = w.Service.RenewSocialAccount(t.Context(), w.by.Account, first.ID, "five")
		e = refused(t, err, core.CodeInvalid, "token")
		assert.Contains(t, e.Message, "POST /socials", "its driver is not here any more")

		page.are, page.err = nil, ads.ErrUnauthorized
		_, err = connect(ads.ConnectSocialAccount{Token: "six"})
		refused(t, err, core.CodeInvalid, "token")
		page.err = nil
		_, err = connect(ads.ConnectSocialAccount{Token: "six"})
		refused(t, err, core.CodeInvalid, "token")
		page.err = ads.ErrUnavailable
		_, err = connect(ads.ConnectSocialAccount{Token: "six"})
		var answer *core.Error
		require.True(t, errors.As(err, &answer))
		page.err = ads.ErrUnsupported
		_, err = connect(ads.ConnectSocialAccount{Token: "six"})
		require.NoError(t, err, "a network that cannot say")

		kept, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, first.ID)
		require.NoError(t, err)
		token, err := w.Advert.ChannelToken(kept)
		require.NoError(t, err)
		assert.Equal(t, "three", token, "a token that was refused changes nothing")
	})
}

// pages is a network that says which profiles a token is of.
type pages struct {
	*sandbox.Driver
	are []advert.SocialProfile
	err error
}

func (p *pages) Profiles(context.Context, ads.Conn) ([]advert.SocialProfile, error) {
	return p.are, p.err
}
