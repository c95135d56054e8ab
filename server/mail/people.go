package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// ours is in whose name people who sign in are written to.
var ours = tenant.Account{Name: "Tillwright"}

// sendToPeople sends the letters to people who sign in. A server that sends no mail forgets them.
func (p *Post) sendToPeople(ctx context.Context) error {
	due, err := p.store.Person.DueLetters(ctx, dueAtOnce)
	return errors.Join(err, togetherOf(ctx, p.turn, due, p.sendToPerson))
}

func (p *Post) sendToPerson(ctx context.Context, id string) error {
	l, err := p.store.Person.ClaimLetter(ctx, id)
	if err != nil || l == nil {
		return err
	}
	isSent := false
	if p.Sends() {
		if isSent, err = p.sendClaimed(ctx, l); err != nil {
			return err
		}
	}
	return p.store.Person.EndLetter(context.WithoutCancel(ctx), l, isSent)
}

// sendClaimed sends a letter, and reports whether it did: one to a team may not be to be sent any more.
func (p *Post) sendClaimed(ctx context.Context, l *person.Letter) (bool, error) {
	if l.TeamLetterID == nil {
		c, err := p.toPerson(ctx, l)
		if err != nil {
			return false, err
		}
		return true, p.send(ctx, locale.English, &ours, l.Email, c)
	}
	c, err := p.toTeam(ctx, l)
	if err != nil || c == nil {
		return false, err
	}
	c.id = l.ID
	return true, p.send(ctx, c.spoken, &ours, l.Email, *c)
}

// toPerson returns what a letter to somebody who signs in says. What others named stands in lines of its own, and in no subject: see unlinked.
func (p *Post) toPerson(ctx context.Context, l *person.Letter) (content, error) {
	detail, at := l.Detail.V, p.store.PublicURL()
	when := "When: " + moment(l.CreatedAt)
	if l.Kind == person.LetterNewBrowser {
		return newBrowser(detail, when, at), nil
	}
	a, err := p.store.Tenant.GetAccount(ctx, *l.AccountID)
	if err != nil {
		return content{}, err
	}
	c, known := ofAccount(l.Kind, detail, at)
	if !known {
		return content{}, fmt.Errorf("nobody has said what a letter of kind %q says", l.Kind)
	}
	c.facts = append(append([]string{"Account: " + unlinked(nameOf(a))}, c.facts...), when)
	c.closing = []string{fmt.Sprintf("You get this letter because you are or were an owner of this account. There are at most %d such letters an hour. "+
		"For all there was, see Activity and Webhooks in the dashboard.", person.MostLetters)}
	return c, nil
}

// ofAccount returns what a letter about an account says, without what all of them say.
func ofAccount(kind tenant.LetterKind, detail person.LetterDetail, at string) (c content, known bool) {
	switch kind {
	case person.LetterTokenMade:
		return content{
			subject: "A new token for your account",
			opening: []string{"A token was made by which programs act for your account."},
			facts:   []string{"Token: " + unlinked(detail.Token)},
			actions: []action{{"If nobody of you made it, revoke it:", at + "/app/developers/tokens", "See the tokens"}},
		}, true
	case person.LetterOwnerChanged:
		return ownerChanged(detail, at), true
	case tenant.LetterWebhookFailing:
		return webhookFailing(detail, at), true
	}
	return content{}, false
}

func newBrowser(detail person.LetterDetail, when, at string) content {
	return content{
		subject: "Somebody signed in with your address",
		opening: []string{"Somebody signed in to the dashboard with your e-mail address, in a browser in which you have not signed in before."},
		facts:   []string{when, "Browser: " + browserOf(detail.Agent), "Network address: " + oneLine(detail.Address)},
		actions: []action{{"If it was not you, choose another password. That signs everybody out:", at + "/recover", "Choose another password"}},
		closing: []string{"If it was you, there is nothing to do."},
	}
}

func ownerChanged(detail person.LetterDetail, at string) content {
	says := "Your account has another owner. Owners may do everything."
	if !detail.Owns {
		says = "Somebody is not an owner of your account any more."
	}
	return content{
		subject: "Who owns your account",
		opening: []string{says},
		facts:   []string{map[bool]string{true: "New owner: ", false: "Former owner: "}[detail.Owns] + unlinked(detail.Member)},
		actions: []action{{"If that is wrong, an owner changes it here:", at + "/app/team", "See the team"}},
	}
}

func webhookFailing(detail person.LetterDetail, at string) content {
	c := content{
		subject: "A webhook endpoint fails",
		opening: []string{"It has taken no event for an hour. What failed is not sent again by itself: send it again once the endpoint works."},
		facts:   []string{"Endpoint: " + unlinked(detail.Host)},
		actions: []action{{"What it answered, and how to send again:", at + "/app/developers/webhooks/" + detail.Endpoint, "See the endpoint"}},
	}
	if detail.Since != nil {
		c.facts = append(c.facts, "It fails since: "+moment(*detail.Since))
	}
	return c
}

// longestName is how many characters of a name a letter shows.
const longestName = 80

// linking is what makes a mail program show a text as a link. It has the signs of addresses, with the other dots that names of hosts may have.
var linking = strings.NewReplacer(".", "[.]", "\u3002", "[.]", "\uff0e", "[.]", "\uff61", "[.]", "\u2024", "[.]", ":", "[:]", "\uff1a", "[:]", "@", "[at]", "\uff20", "[at]", "//", "/ /")

// unlinked writes a name that others chose so that no mail program makes a link of it: evil[.]example. The letter comes in our name.
func unlinked(name string) string {
	runes := []rune(oneLine(name))
	if len(runes) > longestName {
		runes = append(runes[:longestName], '\u2026')
	}
	return linking.Replace(string(runes))
}

// moment writes a time for somebody of whom it is not known where they are.
func moment(at core.Time) string { return at.Time().UTC().Format("2 January 2006, 15:04") + " UTC" }

// The names of browsers and systems as they stand in what a browser says of itself, and as people know them. The first that stands there is meant: many
// also name others.
var (
	browserNames = []string{"Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari"}
	systemNames  = []string{"iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows", "Mac OS X", "macOS", "CrOS", "ChromeOS", "Linux", "Linux"}
)

// browserOf names a browser by what it says of itself, of which nothing else is repeated: whoever signs in writes that.
func browserOf(agent string) string {
	return known(agent, browserNames, "another browser") + " on " + known(agent, systemNames, "another system")
}

func known(agent string, names []string, other string) string {
	for i := 0; i < len(names); i += 2 {
		if strings.Contains(agent, names[i]) {
			return names[i+1]
		}
	}
	return other
}
