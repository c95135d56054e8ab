package dashboard_test

import (
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func newcomer(email string) url.Values {
	return url.Values{"name": {"Ada's Books"}, "email": {email}, "password": {"correct horse battery"}}
}

func TestSetup_WorksOnceAndForTheFirst(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		token, err := s.People().CreateLink(t.Context(), person.Link{Kind: person.LinkSetup})
		require.NoError(t, err)
		sees(t, s.Stranger(t), "/setup/"+token, "Shop name", "E-mail address", "Password", "Create account")
		status, page := s.Stranger(t).Post("/setup/"+token, url.Values{"name": {" "}, "email": {"ada"}, "password": {"short"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{"There is a problem", `href="#name"`, `href="#email"`, `href="#password"`, `value="ada"`} {
			assert.Contains(t, page, piece)
		}
		assert.NotContains(t, page, "short")

		var let, refused int
		var all sync.WaitGroup
		var mu sync.Mutex
		winner := s.Stranger(t)
		for range 4 {
			all.Go(func() {
				p := s.Stranger(t)
				status, to := p.Post("/setup/"+token, newcomer("ada@example.com"))
				mu.Lock()
				defer mu.Unlock()
				if status == http.StatusSeeOther {
					assert.Equal(t, "/app", to)
					let++
					winner = p
				} else {
					assert.Contains(t, []int{http.StatusNotFound, http.StatusUnprocessableEntity}, status)
					refused++
				}
			})
		}
		all.Wait()
		require.Equal(t, []int{1, 3}, []int{let, refused})
		sees(t, winner, "/app", "Ada&#39;s Books", "Before your first sale")
		status, page = s.Stranger(t).Get("/setup/" + token)
		require.Equal(t, http.StatusNotFound, status)
		require.Contains(t, page, "does not work any more")
	})
}

func TestSetup_KeepsTheAccountOfTheLinkBefore(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		account := &w.api.Account
		for _, step := range []struct{ named, owned *string }{{nil, nil}, {account, account}, {nil, account}} {
			token, err := w.People().CreateLink(t.Context(), person.Link{Kind: person.LinkSetup, AccountID: step.named})
			require.NoError(t, err)
			link, err := w.People().GetLink(t.Context(), person.LinkSetup, token)
			require.NoError(t, err)
			require.Equal(t, step.owned, link.AccountID)
		}
	})
}

func TestSetup_EndsWithTheFirstPerson(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) { // who has an owner
		token, err := w.People().CreateLink(t.Context(), person.Link{Kind: person.LinkSetup})
		require.NoError(t, err)
		status, _ := w.Stranger(t).Post("/setup/"+token, newcomer("eve@example.com"))
		require.Equal(t, http.StatusNotFound, status)
	})
}

func TestSignIn_LeadsBackAndEndsEverywhere(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		ada, other := s.Stranger(t), s.Stranger(t)
		require.Equal(t, "/app", sends(t, ada, "/sign-up", newcomer("ada@example.com")))
		status, to := other.Get("/app/developers/tokens?after=x")
		require.Equal(t, http.StatusSeeOther, status)
		require.Equal(t, "/sign-in?to=%2Fapp%2Fdevelopers%2Ftokens%3Fafter%3Dx", to)
		credentials := url.Values{"email": {" ADA@example.com"}, "password": {"correct horse battery"}}
		require.Equal(t, "/app/developers/tokens?after=x", sends(t, other, to, credentials))
		for _, foreign := range []string{"https://evil.example/app/", "//evil.example/app/", "/\\evil.example", "/app/../x\r\ny", "/elsewhere"} {
			require.Equal(t, "/app", sends(t, s.Stranger(t), "/sign-in?to="+url.QueryEscape(foreign), credentials), foreign)
		}

		status, page := ada.Post("/app/you/password", url.Values{"old": {"wrong"}, "password": {"another horse battery"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#old"`)
		require.Equal(t, "/app/you", sends(t, ada, "/app/you/password", url.Values{"old": {"correct horse battery"}, "password": {"another horse battery"}}))
		sees(t, ada, "/app/you", "Your password was changed.")
		status, _ = other.Get("/app")
		require.Equal(t, http.StatusSeeOther, status, "whoever knew the old password is out")
		status, page = other.Post("/sign-in", credentials)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "do not belong together")
		credentials.Set("password", "another horse battery")
		sends(t, other, "/sign-in", credentials)
		require.Equal(t, "/app/you", sends(t, ada, "/app/you/sessions", nil))
		status, _ = other.Get("/app")
		require.Equal(t, http.StatusSeeOther, status)

		require.Equal(t, "/sign-in", sends(t, ada, "/app/sign-out", nil))
		sees(t, s.Stranger(t), "/sign-in", `href="/docs"`) // who comes to "/" may be a programmer
		status, _ = ada.Get("/app")
		require.Equal(t, http.StatusSeeOther, status)
	})
}

func TestSignIn_IsThrottledAndSaysNothingAboutPeople(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		sends(t, s.Stranger(t), "/sign-up", newcomer("ada@example.com"))
		for _, email := range []string{"ada@example.com", "nobody@example.com"} {
			for i := range 12 {
				status, page := s.Stranger(t).Post("/sign-in", url.Values{"email": {email}, "password": {"wrong horse battery"}})
				if i < 10 {
					require.Equal(t, http.StatusUnprocessableEntity, status)
					require.Contains(t, page, "This e-mail address and password do not belong together.")
					continue
				}
				require.Equal(t, http.StatusTooManyRequests, status)
				require.Contains(t, page, "Try again in 15 minutes")
			}
		}
		status, _ := s.Stranger(t).Post("/sign-in", url.Values{"email": {"ada@example.com"}, "password": {"correct horse battery"}})
		require.Equal(t, http.StatusTooManyRequests, status, "the right one waits, too")
		for range 15 {
			_, _ = s.Stranger(t).Post("/sign-in", url.Values{"email": {"grace@example.com"}, "password": {"x"}})
		}
		status, _ = s.Stranger(t).Post("/sign-in", url.Values{"email": {"linus@example.com"}, "password": {"x"}})
		require.Equal(t, http.StatusTooManyRequests, status, "the network's address is counted, too")
	})
}

func TestInvitation_MakesOneMember(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		invite := func() string {
			token, err := w.People().CreateLink(t.Context(), person.Link{Kind: person.LinkInvitation, AccountID: &w.api.Account, Email: "grace@example.com", Role: person.RoleSupport})
			require.NoError(t, err)
			return "/invitation/" + token
		}
		former, link := invite(), invite()
		status, _ := w.Stranger(t).Get(former)
		require.Equal(t, http.StatusNotFound, status, "a newer invitation ends it")
		grace := w.Stranger(t)
		sees(t, grace, link, "Join Test", "grace@example.com", "Support")
		sees(t, grace, link) // looking uses nothing up
		require.Equal(t, "/app", sends(t, grace, link, url.Values{"password": {"correct horse battery"}}))
		sees(t, grace, "/app", "grace@example.com")
		status, _ = w.Stranger(t).Post(link, url.Values{"password": {"correct horse battery"}})
		require.Equal(t, http.StatusNotFound, status)

		other := w.Account(t).Account
		token, err := w.People().CreateLink(t.Context(), person.Link{Kind: person.LinkInvitation, AccountID: &other, Email: "grace@work.example", Role: person.RoleAdmin})
		require.NoError(t, err)
		require.Equal(t, "/app", sends(t, grace, "/invitation/"+token, nil), "whoever is signed in needs no other password")
		shops, err := w.People().ListMemberships(t.Context(), personOf(t, w, "grace@example.com"))
		require.NoError(t, err)
		require.Len(t, shops, 2)
		require.Equal(t, "/app", sends(t, grace, "/app/you/account", url.Values{"account": {w.api.Account}}))
		status, _ = grace.Post("/app/you/account", url.Values{"account": {w.Account(t).Account}})
		require.Equal(t, http.StatusNotFound, status)

		require.NoError(t, w.People().RemoveMember(t.Context(), w.api.Account, personOf(t, w, "grace@example.com")))
		status, to := grace.Get("/app")
		require.Equal(t, []any{http.StatusSeeOther, "/app/you"}, []any{status, to}, "whoever was removed sees nothing of the account")
		require.Error(t, w.People().RemoveMember(t.Context(), w.api.Account, w.owner.ID), "an account keeps an owner")
		enable := w.Disable(t, other)
		sends(t, grace, "/app/you/account", url.Values{"account": {other}})
		status, to = grace.Get("/app")
		require.Equal(t, []any{http.StatusSeeOther, "/app/you"}, []any{status, to}, "nobody enters an account that is disabled")
		sees(t, grace, "/app/you", "Disabled")
		enable()
		sees(t, grace, "/app")
	})
}

func personOf(t *testing.T, w *world, email string) string {
	t.Helper()
	p, err := w.People().PersonOfEmail(t.Context(), email)
	require.NoError(t, err)
	return p.ID
}

// Whoever tries passwords keeps out strangers, and nobody in the browser in which they have signed in before; that has a count of its own.
func TestSignIn_NoStrangerLocksOutAKnownBrowser(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		s := harness.Boot(t, address)
		ada, guesser := s.Stranger(t), s.Stranger(t)
		sends(t, ada, "/sign-up", newcomer("ada@example.com"))
		sends(t, ada, "/app/sign-out", nil)
		try := func(p *harness.Person, password string) int {
			status, _ := p.Post("/sign-in", url.Values{"email": {"ada@example.com"}, "password": {password}})
			return status
		}
		for range 10 {
			require.Equal(t, http.StatusUnprocessableEntity, try(guesser, "wrong horse battery"))
		}
		require.Equal(t, http.StatusTooManyRequests, try(guesser, "correct horse battery"))
		require.Equal(t, http.StatusUnprocessableEntity, try(ada, "wrong horse battery"))
		require.Equal(t, http.StatusSeeOther, try(ada, "correct horse battery"))
		require.Equal(t, http.StatusTooManyRequests, try(guesser, "correct horse battery"), "her signing in opens the door to nobody else")
		sends(t, ada, "/app/sign-out", nil)
		for range 10 {
			require.Equal(t, http.StatusUnprocessableEntity, try(ada, "wrong horse battery"))
		}
		require.Equal(t, http.StatusTooManyRequests, try(ada, "correct horse battery"), "a browser that was stolen guesses no more than others")
	})
}
