package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
)

// contents gives the account 5,000 of all that it writes, and of leads with a tag of their own.
func (s *shop) contents(t *testing.T) {
	t.Helper()
	const many = 5_000
	_, err := s.Content.CreateBlogPost(t.Context(), s.account, content.BlogPost{Title: "How", Tags: core.JSONOf([]string{"so"})})
	require.NoError(t, err)
	_, err = s.Content.CreateLegalPage(t.Context(), s.account, content.LegalPage{Kind: content.LegalPageKindCustom, Title: "Terms"})
	require.NoError(t, err)
	_, err = s.Content.CreateExperience(t.Context(), s.account, content.Experience{Name: "Club", Type: content.ExperienceTypeLink})
	require.NoError(t, err)
	sites := db.ColumnsOf[content.AISite]("ai_sites")
	s.during(t, func(ctx context.Context, u *db.Unit) {
		require.NoError(t, u.Insert(ctx, sites, &content.AISite{AccountID: s.account, ID: core.NewID(core.KindAISite), Name: "Site", Type: content.AISiteTypeAIBuilder, Subdomain: "site"}))
	})
	_, err = s.Lead.Create(t.Context(), s.account, lead.NewLead{Email: "ada@example.com", Source: lead.SourceAPI}, false)
	require.NoError(t, err)
	id := func(k core.Kind) string { return "'" + k.Prefix() + "00000' || n" } // older than all others
	s.copies(t, "blog_posts", db.ColumnsOf[content.BlogPost]("blog_posts").SelectSQL, many, map[string]string{
		"id": id(core.KindBlogPost), "slug": "'how-' || n", "tags": `'["tag' || n || '"]'`,
	})
	s.copies(t, "legal_pages", db.ColumnsOf[content.LegalPage]("legal_pages").SelectSQL, many, map[string]string{"id": id(core.KindLegalPage), "slug": "'terms-' || n"})
	s.copies(t, "experiences", db.ColumnsOf[content.Experience]("experiences").SelectSQL, many, map[string]string{"id": id(core.KindExperience), "slug": "'club-' || n"})
	s.copies(t, "ai_sites", sites.SelectSQL, many, map[string]string{"id": id(core.KindAISite), "subdomain": "'site-' || n", "is_default": "FALSE"})
	s.copies(t, "leads", db.ColumnsOf[lead.Lead]("leads").SelectSQL, many, map[string]string{"id": id(core.KindLead), "email_key": "'ada' || n", "tags": `'["tag' || n || '"]'`})
	_, err = s.db.Write.DB.ExecContext(t.Context(), `ANALYZE filter_entries`)
	require.NoError(t, err)
}

// The same of what the account writes, and of tags.
func TestLists_OfContentAreLedByIndexes(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.contents(t)
		page, window := core.Page{Limit: 20}, core.ListFilter{CreatedAfter: new(core.Time(9e15))}
		s.areLed(t, map[string]func() error{
			"blog_posts status":  asking(s, s.Content.ListBlogPosts, content.ListBlogPosts{Page: page, Status: "none"}),
			"blog_posts access":  asking(s, s.Content.ListBlogPosts, content.ListBlogPosts{Page: page, Access: "none"}),
			"blog_posts value":   asking(s, s.Content.ListBlogPosts, content.ListBlogPosts{Page: page, Tag: "none"}),
			"blog_posts id":      asking(s, s.Content.ListBlogPosts, content.ListBlogPosts{Page: page, ListFilter: window}),
			"legal_pages status": asking(s, s.Content.ListLegalPages, content.ListLegalPages{Page: page, Status: "none"}),
			"legal_pages kind":   asking(s, s.Content.ListLegalPages, content.ListLegalPages{Page: page, Kind: "none"}),
			"legal_pages id":     asking(s, s.Content.ListLegalPages, content.ListLegalPages{Page: page, ListFilter: window}),
			"experiences status": asking(s, s.Content.ListExperiences, content.ListExperiences{Page: page, Status: "none"}),
			"experiences type":   asking(s, s.Content.ListExperiences, content.ListExperiences{Page: page, Type: "none"}),
			"experiences access": asking(s, s.Content.ListExperiences, content.ListExperiences{Page: page, Access: "none"}),
			"experiences id":     asking(s, s.Content.ListExperiences, content.ListExperiences{Page: page, ListFilter: window}),
			"ai_sites type":      asking(s, s.Content.ListAISites, content.ListAISites{Page: page, Type: "none"}),
			"ai_sites is_live":   asking(s, s.Content.ListAISites, content.ListAISites{Page: page, IsLive: new(true)}),
			"ai_sites id":        asking(s, s.Content.ListAISites, content.ListAISites{Page: page, ListFilter: window}),
			"leads value":        asking(s, s.Lead.List, lead.List{Page: page, Tag: "none"}),
		})
	})
}
