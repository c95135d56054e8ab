package store

import (
	"io/fs"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/migrations"
)

// TestMigrate_ChoosesOneChannelOfAProfile begins with a profile that was connected three times.
func TestMigrate_ChoosesOneChannelOfAProfile(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		files, err := migrations.FS(s.Engine())
		require.NoError(t, err)
		step, err := fs.ReadFile(files, "00052_social_token.sql")
		require.NoError(t, err)
		run := func(statement string) {
			_, err := s.db.Write.DB.Exec(statement)
			require.NoError(t, err, statement)
		}
		run("DROP INDEX social_accounts_profile")
		in := advert.NewSocialAccount{Platform: advert.PlatformFacebook, Driver: "meta", SocialAccess: advert.SocialAccess{Token: "t"}}
		var ids []string
		for range 3 {
			a, err := s.Advert.ConnectSocialAccount(t.Context(), s.account, in)
			require.NoError(t, err)
			ids = append(ids, a.ID)
		}
		_, err = s.Advert.ActivateSocialAccount(t.Context(), s.account, ids[1])
		require.NoError(t, err)
		run("UPDATE social_accounts SET platform_id = '1'")
		for _, column := range regexp.MustCompile(`ADD COLUMN (?:IF NOT EXISTS )?(\w+)`).FindAllStringSubmatch(string(step), -1) {
			run("ALTER TABLE social_accounts DROP COLUMN " + column[1])
		}
		run(string(step))

		in.PlatformID = "1"
		again, err := s.Advert.ConnectSocialAccount(t.Context(), s.account, in)
		require.NoError(t, err)
		require.Equal(t, ids[1], again.ID, "the one that is in use")
		for _, id := range ids {
			_, err := s.Advert.GetSocialAccount(t.Context(), s.account, id)
			require.NoError(t, err)
		}
	})
}
