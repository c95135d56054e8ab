package lead

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/tenant"
)

// shop is an account with its leads.
type shop struct {
	*Store
	account string
}

// eachShop runs a test on both engines.
func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		test(t, &shop{New(d, Rooms{Tenant: tenant.New(d, false)}), dbtest.Account(t, d)})
	})
}

func TestAccountOfForm_TakesATokenFromTwoSecondsToADayAfterItWasMade(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		made := time.Now()
		s.db.Options.Now = func() time.Time { return made }
		form, err := s.NewForm(t.Context(), s.account)
		require.NoError(t, err)
		assert.WithinDuration(t, made.Add(24*time.Hour), form.ExpiresAt.Time(), time.Millisecond)
		for age, works := range map[time.Duration]bool{
			-time.Hour: false, 0: false, 1990 * time.Millisecond: false, 2010 * time.Millisecond: true, 24*time.Hour - time.Second: true, 24*time.Hour + time.Second: false,
		} {
			s.db.Options.Now = func() time.Time { return made.Add(age) }
			account, err := s.AccountOfForm(form.Token)
			if works {
				require.NoError(t, err, age)
				assert.Equal(t, s.account, account)
				continue
			}
			var refused *core.Error
			require.ErrorAs(t, err, &refused, age)
			assert.NotEmpty(t, refused.Fields["form_token"])
		}
	})
}

func TestAccountOfForm_TakesNoOtherToken(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		made := time.Now()
		s.db.Options.Now = func() time.Time { return made }
		form, err := s.NewForm(t.Context(), s.account)
		require.NoError(t, err)
		s.db.Options.Now = func() time.Time { return made.Add(time.Minute) }
		_, err = s.AccountOfForm(form.Token)
		require.NoError(t, err)
		for i := range form.Token { // any letter of it
			for _, other := range []string{"0", "A", "b", "_", ""} {
				if altered := form.Token[:i] + other + form.Token[i+1:]; altered != form.Token {
					_, err := s.AccountOfForm(altered)
					require.Error(t, err, altered)
				}
			}
		}
		for _, other := range []string{"", "_", "__", s.account, form.Token + "A", strings.ToUpper(form.Token), "x" + form.Token} {
			_, err := s.AccountOfForm(other)
			require.Error(t, err, other)
		}
		for _, account := range []string{"", "acct_x", core.NewID(core.KindAccount)} {
			_, err := s.NewForm(t.Context(), account)
			require.Error(t, err, account)
		}
	})
}
