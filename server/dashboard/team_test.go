package dashboard_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestTeam_InvitesByALinkThatIsShownOnce(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		status, page := w.owner.Post("/app/team/invite", url.Values{"email": {`"><b>grace`}, "role": {"king"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		for _, piece := range []string{`href="#email"`, `href="#role"`, "&lt;b&gt;grace"} {
			require.Contains(t, page, piece)
		}
		status, page = w.owner.Post("/app/team/invite", url.Values{"email": {strings.ToUpper(w.owner.Email)}, "role": {"admin"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "They are a member already.")

		sees(t, w.owner, "/app/team/invite", "E-mail address", "Role", "no letter is sent")
		require.Equal(t, "/app/team", sends(t, w.owner, "/app/team/invite", url.Values{"email": {"grace@example.com"}, "role": {"support"}}))
		page = sees(t, w.owner, "/app/team", "Invitation link", "grace@example.com", "Support", "No letter was sent")
		link := strings.TrimPrefix(between(t, page, `class="key" value="`, `"`), "http://shop.test")
		require.NotContains(t, sees(t, w.owner, "/app/team"), link)
		grace := w.Stranger(t)
		require.Equal(t, "/app", sends(t, grace, link, url.Values{"password": {"correct horse battery"}}))
		require.NotContains(t, sees(t, grace, "/app/team", w.owner.Email), "Invite")

		sends(t, w.owner, "/app/team/invite", url.Values{"email": {"eve@example.com"}, "role": {"owner"}})
		link = strings.TrimPrefix(between(t, sees(t, w.owner, "/app/team"), `class="key" value="`, `"`), "http://shop.test")
		back := "/app/team/invitations/" + between(t, sees(t, w.owner, "/app/team"), `href="/app/team/invitations/`, `"`)
		admin := w.Member(t, w.api.Account, person.RoleAdmin)
		require.NotContains(t, sees(t, admin, "/app/team", "eve@example.com"), "/app/team/invitations/")
		status, _ = admin.Post(back, nil)
		require.Equal(t, http.StatusForbidden, status)
		sees(t, w.owner, back, "stops working at once")
		require.Equal(t, "/app/team", sends(t, w.owner, back, nil))
		status, _ = w.Stranger(t).Get(link)
		require.Equal(t, http.StatusNotFound, status)
		status, _ = w.owner.Post(back, nil)
		require.Equal(t, http.StatusNotFound, status)

		lines, err := w.api.SDK().Activity.List(t.Context(), &sdk.ListActivityParams{Actor: &w.owner.ID})
		require.NoError(t, err)
		require.Equal(t, []string{"deleteInvitation", "inviteMember", "inviteMember"}, operations(lines.Data))
		require.Equal(t, w.owner.Email, *lines.Data[0].Actor.Name)
		sees(t, w.owner, "/app/activity", "Accept invitation", "Invite member", "role: nothing → support", "grace@example.com")
	})
}

// An invitation that an older version wrote works until it ends.
func TestTeam_TakesAnInvitationToAnAddressThatIsRefusedToday(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		sends(t, w.owner, "/app/team/invite", url.Values{"email": {"grace@example.com"}, "role": {"support"}})
		link := strings.TrimPrefix(between(t, sees(t, w.owner, "/app/team"), `class="key" value="`, `"`), "http://shop.test")
		harness.OpenDatabase(t, address).Must(t, "UPDATE person_links SET email = 'grace@corp' WHERE email = 'grace@example.com'")
		grace := w.Stranger(t)
		require.Equal(t, "/app", sends(t, grace, link, url.Values{"password": {"correct horse battery"}}))
		sees(t, grace, "/app", "grace@corp")
	})
}

func operations(lines []sdk.Activity) (all []string) {
	for i := range lines {
		all = append(all, lines[i].Operation)
	}
	return all
}

func TestTeam_ChangesRolesByWhoMay(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		admin, helper := w.Member(t, w.api.Account, person.RoleAdmin), w.Member(t, w.api.Account, person.RoleReadOnly)
		owners := "/app/team/" + w.owner.ID
		for _, form := range []url.Values{{"role": {"admin"}}, {"role": {"owner"}}} {
			status, page := admin.Post(owners, form)
			require.Equal(t, http.StatusForbidden, status)
			require.Contains(t, page, "Only an owner")
		}
		for _, at := range []string{owners + "/remove", "/app/team/" + admin.ID} {
			status, _ := admin.Post(at, url.Values{"role": {"owner"}})
			require.Equal(t, http.StatusForbidden, status, "nobody makes themselves an owner")
		}
		status, page := admin.Post("/app/team/invite", url.Values{"email": {"eve@example.com"}, "role": {"owner"}})
		require.Equal(t, http.StatusForbidden, status, page)
		require.NotContains(t, sees(t, admin, "/app/team/"+helper.ID), `value="owner"`)
		sends(t, admin, "/app/team/"+helper.ID, url.Values{"role": {"support"}})
		sees(t, admin, "/app/team", "is Support now")
		status, page = w.owner.Post(owners, url.Values{"role": {"admin"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "An account has one owner at least")
		status, _ = w.owner.Post("/app/team/leave", nil)
		require.Equal(t, http.StatusUnprocessableEntity, status)

		sees(t, admin, "/app/team/"+helper.ID+"/remove", "at once")
		sends(t, admin, "/app/team/"+helper.ID+"/remove", nil)
		status, to := helper.Get("/app")
		require.Equal(t, []any{http.StatusSeeOther, "/app/you"}, []any{status, to})
		sees(t, admin, "/app/team/leave", "Leave Test")
		require.Equal(t, "/app/you", sends(t, admin, "/app/team/leave", nil))
		sees(t, admin, "/app/you", "You have left Test.")

		second := w.Member(t, w.api.Account, person.RoleAdmin)
		sends(t, w.owner, "/app/team/"+second.ID, url.Values{"role": {"owner"}})
		for _, to := range []string{w.owner.Email, second.Email} {
			require.Contains(t, w.told(t, to, "Who owns your account").Text, "Account: Test\nNew owner: "+shown(second)+"\n")
		}
		sends(t, second, "/app/team/"+w.owner.ID+"/remove", nil)
		require.Eventually(t, func() bool {
			return len(slices.DeleteFunc(w.Mail.Letters(), func(l mail.Letter) bool {
				return !strings.Contains(l.Text, "Former owner: "+shown(w.owner)+"\n")
			})) == 2
		}, harness.Patience, 20*time.Millisecond, "who is one, and who was")

		lines, err := w.api.SDK().Activity.List(t.Context(), &sdk.ListActivityParams{Actor: &admin.ID})
		require.NoError(t, err)
		require.Equal(t, []string{"leaveAccount", "removeMember", "updateMember"}, operations(lines.Data))
		require.JSONEq(t, `"support"`, string(lines.Data[2].Changes["role"].After))
		require.NotNil(t, lines.Data[2].IP)
	})
}

// Members of other accounts are nobody here.
func TestTeam_KnowsNobodyElse(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		other := w.Member(t, w.Account(t).Account, person.RoleSupport)
		for _, at := range []string{"/app/team/" + other.ID, "/app/team/" + other.ID + "/remove"} {
			status, _ := w.owner.Get(at)
			require.Equal(t, http.StatusNotFound, status)
			status, _ = w.owner.Post(at, url.Values{"role": {"admin"}})
			require.Equal(t, http.StatusNotFound, status)
		}
		sees(t, other, "/app")
	})
}

// Whoever finds a browser that was left open makes no key, moves no money elsewhere and lets nobody in.
func TestTeam_AsksForACredentialThatWasGivenJustNow(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		helper := w.Member(t, w.api.Account, person.RoleSupport)
		w.Clock.SetAhead(16 * time.Minute)
		for _, at := range []string{
			"/app/team/invite", "/app/team/leave", "/app/team/" + helper.ID, "/app/team/" + helper.ID + "/remove", "/app/settings/payments", "/app/developers/tokens/new",
		} {
			status, to := w.owner.Get(at)
			require.Equal(t, http.StatusSeeOther, status, at)
			require.Equal(t, "/app/confirm-identity?to="+url.QueryEscape(at), to)
			require.Equal(t, "/app/confirm-identity", sends(t, w.owner, at, url.Values{"role": {"owner"}, "email": {"eve@example.com"}, "step": {"provider"}, "payments_provider": {"stripe"}, "name": {"x"}}), at)
		}
		sees(t, helper, "/app/team", "Support")
		require.NotContains(t, sees(t, w.owner, "/app/team"), "eve@example.com")
	})
}

// Whoever is removed, or may do less from now on, does not come back by an invitation that they kept.
func TestTeam_EndsTheInvitationsOfWhoGoes(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		for _, change := range []string{"", "/remove"} {
			admin := w.Member(t, w.api.Account, person.RoleAdmin)
			sends(t, admin, "/app/team/invite", url.Values{"email": {"eve@example.com"}, "role": {"admin"}})
			link := "/invitation/" + between(t, sees(t, admin, "/app/team"), "/invitation/", `"`)
			sees(t, w.Stranger(t), link, "Join Test")
			sends(t, w.owner, "/app/team/"+admin.ID+change, url.Values{"role": {"support"}})
			status, _ := w.Stranger(t).Post(link, url.Values{"password": {"correct horse battery"}})
			require.Equal(t, http.StatusNotFound, status)
			require.NotContains(t, sees(t, w.owner, "/app/team"), "eve@example.com")
		}
	})
}

// Whoever removes somebody may have the tokens revoked that they made, and no others.
func TestTeam_RevokesTheTokensOfWhoIsRemoved(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, w *world) {
		for _, revokes := range []bool{false, true} {
			grace := w.Member(t, w.api.Account, person.RoleDeveloper)
			page := "/app/team/" + grace.ID + "/remove"
			require.NotContains(t, sees(t, w.owner, page), "Revoke")
			sends(t, grace, "/app/developers/tokens/new", url.Values{"name": {"of " + grace.ID}})
			sees(t, w.owner, page, "Revoke the API token that they made", `value="yes" checked`)
			form := url.Values{}
			if revokes {
				form.Set("revoke", "yes")
			}
			sends(t, w.owner, page, form)
			left := sees(t, w.owner, "/app/developers/tokens", "Revoke test")
			require.Equal(t, !revokes, strings.Contains(left, "of "+grace.ID))
		}
	})
}
