package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestRecovery_IsByALetterThatWorksOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		ada := s.Stranger(t)
		sends(t, ada, "/sign-up", newcomer("ada@example.com"))
		sends(t, s.Stranger(t), "/sign-in", url.Values{"email": {"ada@example.com"}, "password": {"correct horse battery"}})
		sees(t, ada, "/app/you", "Your e-mail address is not confirmed", "Confirm address")
		sees(t, s.Stranger(t), "/sign-in", "Forgot your password?")
		status, page := s.Stranger(t).Post("/recover", url.Values{"email": {"ada"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#email"`)
		var said []string
		for _, email := range []string{"nobody@example.com", "ADA@example.com"} {
			to := sends(t, s.Stranger(t), "/recover", url.Values{"email": {email}})
			said = append(said, to+sees(t, s.Stranger(t), to, "Check your e-mail"))
		}
		require.Equal(t, said[0], said[1], "nobody is told who signs in here")
		require.Eventually(t, func() bool { return len(s.Mail.Letters()) == 1 }, harness.Patience, 20*time.Millisecond)
		letter := s.Mail.Letters()[0]
		require.Equal(t, "ada@example.com", letter.To)
		link := regexp.MustCompile(`/recover/[0-9a-z]+`).FindString(letter.Text)
		require.NotEmpty(t, link)
		for range 2 { // a program of the reader's looks first
			sees(t, s.Stranger(t), link, "New password", "Set password")
		}
		status, _ = s.Stranger(t).Post(link, url.Values{"password": {"short"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		other := s.Stranger(t)
		require.Equal(t, "/app", sends(t, other, link, url.Values{"password": {"another horse battery"}}))
		sees(t, other, "/app", "ada@example.com")
		require.NotContains(t, sees(t, other, "/app/you"), "not confirmed")
		status, _ = ada.Get("/app")
		require.Equal(t, http.StatusSeeOther, status, "all other sessions are over")
		for _, ask := range []func() (int, string){
			func() (int, string) { return s.Stranger(t).Get(link) },
			func() (int, string) {
				return s.Stranger(t).Post(link, url.Values{"password": {"a third horse battery"}})
			},
		} {
			status, page = ask()
			require.Equal(t, http.StatusNotFound, status)
			require.Contains(t, page, "Send me another one")
		}
		for _, browser := range []*harness.Person{ada, other, s.Stranger(t)} { // in the first two she signed in before
			sends(t, browser, "/sign-in", url.Values{"email": {"ada@example.com"}, "password": {"another horse battery"}})
		}
		d := harness.OpenDatabase(t, address)
		require.Eventually(t, func() bool { return len(d.Strings(t, "SELECT id FROM people_letters")) == 0 }, harness.Patience, 20*time.Millisecond)
		var told []string
		for _, l := range s.Mail.Letters() {
			if l.Subject == "Somebody signed in with your address" {
				told = append(told, l.To)
				require.Contains(t, l.Text, "Browser: another browser on another system\nNetwork address: 127.")
			}
		}
		require.Equal(t, []string{"ada@example.com", "ada@example.com"}, told, "nothing before the address was confirmed")

		for range 4 {
			sends(t, s.Stranger(t), "/recover", url.Values{"email": {"nobody@example.com"}})
		}
		status, _ = s.Stranger(t).Post("/recover", url.Values{"email": {"nobody@example.com"}})
		require.Equal(t, http.StatusTooManyRequests, status, "five letters in a quarter of an hour, whether or not there is anybody")
	})
}

// Somebody with an address that is refused today signs in, and chooses another password, as everybody does.
func TestRecovery_IsForAnAddressThatIsRefusedToday(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		ada := s.Stranger(t)
		sends(t, ada, "/sign-up", newcomer("ada@example.com"))
		harness.OpenDatabase(t, address).Must(t, "UPDATE people SET email = 'ada@corp', email_key = 'ada@corp'")
		sends(t, s.Stranger(t), "/sign-in", url.Values{"email": {"Ada@corp"}, "password": {"correct horse battery"}})
		known, unknown := sends(t, s.Stranger(t), "/recover", url.Values{"email": {"ada@corp"}}), sends(t, s.Stranger(t), "/recover", url.Values{"email": {"nobody@corp"}})
		require.Equal(t, unknown, known, "nobody is told who signs in here")
		w := &world{Server: s}
		letter := w.told(t, "ada@corp", "Choose another password")
		link := regexp.MustCompile(`/recover/[0-9a-z]+`).FindString(letter.Text)
		require.Equal(t, "/app", sends(t, s.Stranger(t), link, url.Values{"password": {"another horse battery"}}))
		require.Contains(t, w.told(t, "ada@corp", "Somebody signed in with your address").Text, "choose another password")

		status, page := s.Stranger(t).Post("/sign-up", newcomer("new@corp"))
		require.Equal(t, http.StatusUnprocessableEntity, status, "a new one is held to the rule of today")
		require.Contains(t, page, "none that letters reach")
	})
}
