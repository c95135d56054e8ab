package dashboard

import (
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	pictures "github.com/tillwright/tillwright/store/picture"
)

// tellPicture says in a form, beside the address of a picture, how it stands with the picture: of the account, a product or a post.
func (d *Dashboard) tellPicture(v *visit, owner string, f *ui.Form) error {
	p, err := d.store.Pictures.Of(v.ctx(), v.shop.ID, owner)
	if err != nil || p == nil {
		return err
	}
	problem := core.Deref(p.Problem)
	if p.DueAt != nil && problem == "" {
		if problem, err = d.store.Pictures.Held(v.ctx(), v.shop.ID); err != nil {
			return err
		}
	}
	for i := range f.Controls {
		if c := &f.Controls[i]; c.Name == "logo_url" || c.Name == "cover_url" {
			c.Hint, c.Problem = c.Hint+" "+pictureState(p, problem), problem
		}
	}
	return nil
}

// pictureState says what pages show, and what is done about it.
func pictureState(p *pictures.Picture, problem string) string {
	shown := "Pages have no picture."
	if p.Name != nil {
		shown = "Pages show the former picture."
	}
	switch {
	case p.Name != nil && p.DueAt == nil && problem == "":
		return "The picture was fetched. It is fetched again if its address changes, such as by ?v=2 at the end."
	case problem == "":
		return "The picture is being fetched."
	case p.DueAt != nil:
		return shown + " It will be fetched again."
	}
	return shown + " It is fetched again if its address changes."
}
