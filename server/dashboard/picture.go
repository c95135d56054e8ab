package dashboard

import (
	"github.com/tillwright/tillwright/server/ui"
	pictures "github.com/tillwright/tillwright/store/picture"
)

// tellPicture says in a form, beside the address of a picture, how it stands with the picture: of the account, a product or a post.
func (d *Dashboard) tellPicture(v *visit, owner string, f *ui.Form) error {
	p, err := d.store.Pictures.Of(v.ctx(), v.shop.ID, owner)
	if err != nil || p == nil {
		return err
	}
	for i := range f.Controls {
		if c := &f.Controls[i]; c.Name == "logo_url" || c.Name == "cover_url" {
			c.Hint, c.Problem = c.Hint+" "+pictureState(p), pictureProblem(p)
		}
	}
	return nil
}

func pictureState(p *pictures.Picture) string {
	switch {
	case p.Name != nil:
		return "The picture was fetched. It is fetched again if its address changes, such as by ?v=2 at the end."
	case p.Problem == nil:
		return "The picture is being fetched."
	case p.DueAt != nil:
		return "Pages have no picture. It will be fetched again."
	}
	return "Pages have no picture. It is fetched again if its address changes."
}

// pictureProblem says why a picture could not be had, "" if it could or was not tried.
func pictureProblem(p *pictures.Picture) string {
	if p.Problem == nil {
		return ""
	}
	return *p.Problem
}
