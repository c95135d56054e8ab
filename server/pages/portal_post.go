package pages

import (
	"html/template"
	"net/http"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
)

// portalPosts is how many of the newest posts for customers, and for buyers, the portal looks through.
const portalPosts = 100

// portalPost is the data of portal_post.html, on which a customer reads a post.
type portalPost struct {
	portalPage
	Post *content.BlogPost
	HTML template.HTML
}

// readable returns the newest posts that are not for everybody, and that the customer may read.
func (p *Pages) readable(v *visit) ([]content.BlogPost, error) {
	list := func(access content.BlogPostAccess) ([]content.BlogPost, error) {
		posts, _, err := p.store.Content.ListBlogPosts(v.ctx(), v.Session.AccountID, content.ListBlogPosts{
			Page: core.Page{Limit: portalPosts}, Status: content.BlogPostStatusPublished, Access: access,
		})
		return posts, err
	}
	var all []content.BlogPost
	if v.Customer.Type == customer.TypeCustomer {
		posts, err := list(content.BlogPostAccessCustomers)
		if err != nil {
			return nil, err
		}
		all = posts
	}
	grants, err := p.store.Grant.CurrentGrants(v.ctx(), v.Session.AccountID, v.Customer.ID)
	if err != nil || len(grants) == 0 {
		return all, err
	}
	has := map[string]bool{}
	for i := range grants {
		has[grants[i].ProductID] = has[grants[i].ProductID] || grants[i].StatusNow() == grant.StatusActive
	}
	posts, err := list(content.BlogPostAccessProduct)
	for _, post := range posts {
		if has[*post.ProductID] {
			all = append(all, post)
		}
	}
	return all, err
}

// portalRead shows a post to a customer who may read it; to everybody else it is missing.
func (p *Pages) portalRead(v *visit) error {
	ctx, account := v.ctx(), v.Session.AccountID
	post, err := p.store.Content.GetBlogPost(ctx, account, v.Param("post"))
	if err != nil {
		return p.refuse(v, err)
	}
	access, err := p.store.GetBlogPostAccess(ctx, account, post.ID, v.Customer.ID)
	if err != nil {
		return p.refuse(v, err)
	}
	if access.Via == "" {
		return p.tell(v, http.StatusNotFound, missing(p.spoken(v)))
	}
	page := portalPost{portalPage: v.page(post.Title, ""), Post: post, HTML: template.HTML(post.Text.HTML)} // what the policy of markdown let through
	return p.render(v, http.StatusOK, "portal_post.html", page.frame(), page)
}
