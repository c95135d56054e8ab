package dashboard

import (
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

func siteDomainForm(value string) *ui.Form {
	return &ui.Form{Submit: "Save", Once: newOnce(), Controls: []ui.Control{
		{Name: "domain", Label: "Domain", Hint: "A host name of yours, such as shop.example.com. Empty for none.", Value: value, InputMode: "url", Longest: 253, Optional: true},
	}}
}

// siteDomain shows the domain of a site, with the records that it needs and how far it has come.
func (d *Dashboard) siteDomain(v *visit) error {
	s, err := d.api.AISites.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.showSiteDomain(http.StatusOK, s, siteDomainForm(core.Deref(s.Domain)))
}

func (v *visit) showSiteDomain(status int, s *sdk.AISite, f *ui.Form, wrong ...ui.Problem) error {
	at := sitesPage + "/" + s.ID
	p := ui.Page{Heading: "Domain", Badge: domainBadge(s), Up: &ui.Link{Text: s.Name, Address: at}, Lead: "A site can have a domain of its own beside its address here. You keep the domain where you bought it."}
	if v.may("sites:write") {
		p.Form = f
	}
	if s.Domain != nil {
		p.Sections = []ui.Section{domainRecords(s), v.domainState(s, at+"/domain/check")}
	}
	return v.show(status, p, wrong...)
}

func domainRecords(s *sdk.AISite) ui.Section {
	t := &ui.Table{Label: "DNS records", Columns: []string{"Type", "Name", "Value"}, Empty: &ui.Empty{Text: "There is none to set."}}
	for _, r := range s.DomainRecords {
		t.Rows = append(t.Rows, []ui.Cell{{Text: string(r.Type)}, {Text: r.Name, Code: true}, {Text: r.Value, Code: true}})
	}
	return ui.Section{Title: "DNS records", Text: "Set one of these where you manage " + *s.Domain + ". Either proves that it is yours. With the TXT record, lead the domain to this server as well, by an A or AAAA record: a domain without a part in front, such as example.com, can have no CNAME.", Table: t}
}

func (v *visit) domainState(s *sdk.AISite, check string) ui.Section {
	state := ui.Section{Title: "State", Text: core.Deref(s.DomainError), Terms: []ui.Term{
		{Name: "State", Value: ui.Cell{Badge: domainBadge(s)}}, {Name: "Proven", Value: v.when(s.DomainVerifiedAt)}, {Name: "Looked last", Value: v.when(s.DomainCheckedAt)},
	}}
	if v.may("sites:write") {
		state.Forms = []ui.Form{{Action: check, Submit: "Check again", Inline: true, Once: newOnce()}}
	}
	return state
}

// saveSiteDomain gives a site another domain, or none.
func (d *Dashboard) saveSiteDomain(v *visit) error {
	s, err := d.api.AISites.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f := siteDomainForm(v.field("domain"))
	s, err = d.saved(v, s, &sdk.AISiteUpdate{Domain: cleared(strings.ToLower(v.field("domain")))})
	if wrong, ok := problems(err, f); ok {
		return v.showSiteDomain(http.StatusUnprocessableEntity, s, f, wrong...)
	}
	if err != nil {
		return err
	}
	said := "The site has no domain of its own now."
	if s.Domain != nil {
		said = "Set one of the records below. It is looked for by itself, too."
	}
	return v.done(sitesPage+"/"+s.ID+"/domain", person.Notice{Text: said})
}

// checkSiteDomain looks for the records of a domain now.
func (d *Dashboard) checkSiteDomain(v *visit) error {
	s, err := d.api.AISites.VerifyDomain(v.ctx(), v.Param("id"), v.once())
	if err != nil {
		return err
	}
	n := person.Notice{Text: "The domain is proven to be yours."}
	if s.DomainVerifiedAt == nil {
		n = person.Notice{Text: core.Deref(s.DomainError), Bad: true}
	}
	return v.done(sitesPage+"/"+s.ID+"/domain", n)
}
