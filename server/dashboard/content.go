package dashboard

import (
	"context"
	"html/template"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content/markdown"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const (
	contentPage    = "/app/content"
	postsPage      = contentPage + "/posts"
	legalPagesPage = contentPage + "/legal"

	experiencesPage = contentPage + "/experiences"
)

// contentTabs are the parts of what a shop publishes.
func contentTabs(current string) []ui.MenuItem {
	tabs := []ui.MenuItem{{Text: "Posts", Address: contentPage}, {Text: "Legal pages", Address: legalPagesPage}, {Text: "Experiences", Address: experiencesPage}}
	for i := range tabs {
		tabs[i].Current = tabs[i].Address == current
	}
	return tabs
}

// piece is a kind of what is written and published: the same can be done to all of them.
type piece struct {
	page, list, word string
	name             func(ctx context.Context, id string) (string, error)
	remove           func(ctx context.Context, id string, options ...sdk.Option) (*sdk.Deleted, error)
	moves            map[string]func(ctx context.Context, id string, options ...sdk.Option) error
	gone             string // what else is lost when one is deleted
}

// moved is a move whose answer is not looked at.
func moved[T any](move func(context.Context, string, ...sdk.Option) (*T, error)) func(context.Context, string, ...sdk.Option) error {
	return func(ctx context.Context, id string, options ...sdk.Option) error {
		_, err := move(ctx, id, options...)
		return err
	}
}

func (d *Dashboard) posts() *piece {
	api := d.api.BlogPosts
	return &piece{
		page: postsPage, list: contentPage, word: "post", remove: api.Delete, gone: "It is gone for good, with its versions. Its address leads nowhere then.",
		name: func(ctx context.Context, id string) (string, error) {
			b, err := api.Get(ctx, id)
			if err != nil {
				return "", err
			}
			return b.Title, nil
		},
		moves: map[string]func(context.Context, string, ...sdk.Option) error{"publish": moved(api.Publish), "unpublish": moved(api.Unpublish), "archive": moved(api.Archive), "unarchive": moved(api.Unarchive)},
	}
}

func (d *Dashboard) legalPages() *piece {
	api := d.api.LegalPages
	return &piece{
		page: legalPagesPage, list: legalPagesPage, word: "page", remove: api.Delete, gone: "It is gone for good, with its versions. One that buyers have accepted is kept: archive it instead.",
		name: func(ctx context.Context, id string) (string, error) {
			l, err := api.Get(ctx, id)
			if err != nil {
				return "", err
			}
			return l.Title, nil
		},
		moves: map[string]func(context.Context, string, ...sdk.Option) error{"publish": moved(api.Publish), "unpublish": moved(api.Unpublish), "archive": moved(api.Archive), "unarchive": moved(api.Unarchive)},
	}
}

func (d *Dashboard) experiences() *piece {
	api := d.api.Experiences
	return &piece{
		page: experiencesPage, list: experiencesPage, word: "experience", remove: api.Delete, gone: "It is gone for good, and nobody gets in any more. One that a product for sale opens is kept: take it from the product first.",
		name: func(ctx context.Context, id string) (string, error) {
			e, err := api.Get(ctx, id)
			if err != nil {
				return "", err
			}
			return e.Name, nil
		},
		moves: map[string]func(context.Context, string, ...sdk.Option) error{"publish": moved(api.Publish), "unpublish": moved(api.Unpublish), "archive": moved(api.Archive), "unarchive": moved(api.Unarchive)},
	}
}

// movePiece publishes something, takes it back, puts it away or brings it back.
func (d *Dashboard) movePiece(k *piece) func(*visit) error {
	return func(v *visit) error {
		move, at := k.moves[v.Param("move")], k.page+"/"+v.Param("id")
		if move == nil {
			return core.Missing("page", "", v.Param("move"))
		}
		err := move(v.ctx(), v.Param("id"), v.once())
		if wrong, ok := problems(err, &ui.Form{}); ok {
			return v.done(at, person.Notice{Text: wrong[0].Text, Bad: true})
		}
		if err != nil {
			return err
		}
		return v.done(at, person.Notice{Text: "The " + k.word + " " + map[string]string{"publish": "is published.", "unpublish": "is a draft again.", "archive": "is put away.", "unarchive": "is a draft."}[v.Param("move")]})
	}
}

func (k *piece) deletePage(id, name string) ui.Page {
	return ui.Page{Heading: "Delete " + name, Up: &ui.Link{Text: name, Address: k.page + "/" + id}, Form: &ui.Form{
		Text: k.gone, Submit: "Delete " + k.word, Danger: true, Cancel: k.page + "/" + id, Once: newOnce(),
	}}
}

// deletePieceForm says what happens when something is deleted.
func (d *Dashboard) deletePieceForm(k *piece) func(*visit) error {
	return func(v *visit) error {
		name, err := k.name(v.ctx(), v.Param("id"))
		if err != nil {
			return err
		}
		return v.show(http.StatusOK, k.deletePage(v.Param("id"), name))
	}
}

// deletePiece deletes something for good.
func (d *Dashboard) deletePiece(k *piece) func(*visit) error {
	return func(v *visit) error {
		name, err := k.name(v.ctx(), v.Param("id"))
		if err == nil {
			_, err = k.remove(v.ctx(), v.Param("id"), v.once())
		}
		p := k.deletePage(v.Param("id"), name)
		if wrong, ok := problems(err, p.Form); ok {
			return v.show(http.StatusUnprocessableEntity, p, wrong...)
		}
		if err != nil {
			return err
		}
		return v.done(k.list, person.Notice{Text: "The " + k.word + " was deleted."})
	}
}

// moveForms are the buttons of what can be done to something in a state.
func moveForms(address, status string) []ui.Form {
	button := func(move, text string) ui.Form {
		return ui.Form{Action: address + "/" + move, Submit: text, Inline: true, Once: newOnce()}
	}
	switch status {
	case "archived":
		return []ui.Form{button("unarchive", "Bring back")}
	case "published":
		return []ui.Form{button("unpublish", "Take back"), button("archive", "Archive")}
	case "scheduled":
		return []ui.Form{button("publish", "Publish now"), button("unpublish", "Do not publish"), button("archive", "Archive")}
	}
	return []ui.Form{button("publish", "Publish"), button("archive", "Archive")}
}

// contentBadge returns the badge of a status, which all that is written shares.
func contentBadge(status string) *ui.Badge {
	switch status {
	case "published":
		return &ui.Badge{Text: "Published", Tone: "good", Icon: "check"}
	case "scheduled":
		return &ui.Badge{Text: "Scheduled", Tone: "warn", Icon: "clock"}
	case "archived":
		return &ui.Badge{Text: "Archived", Tone: "void", Icon: "cross"}
	}
	return &ui.Badge{Text: "Draft", Icon: "clock"}
}

// typed returns what a form has in a field once it was sent, and before that what is stored.
func (v *visit) typed(name, stored string) string {
	if v.Request().Method != http.MethodPost {
		return stored
	}
	return v.field(name)
}

// typedLines is typed for a text of several lines, of which nothing is cut off.
func (v *visit) typedLines(name, stored string) string {
	if v.Request().Method != http.MethodPost {
		return stored
	}
	return strings.ReplaceAll(v.FormValue(name), "\r\n", "\n")
}

// isPreview reports whether a form was only sent to see what would come of it.
func (v *visit) isPreview() bool { return v.FormValue("preview") != "" }

var previewButton = ui.Button{Text: "Preview", Name: "preview", Value: "yes"}

// drawn returns a section with a text as readers see it.
func drawn(title, source string) ui.Section {
	if strings.TrimSpace(source) == "" {
		return ui.Section{Title: title, Text: "There is no text yet."}
	}
	html, problem := markdown.Render(source)
	return ui.Section{Title: title, Text: problem, Prose: prose(html)}
}

// prose returns text that markdown.Render has made fit for any page, with its headings below that of the page.
func prose(html string) template.HTML {
	return template.HTML(strings.NewReplacer("<h1", "<h2", "</h1>", "</h2>").Replace(html)) // Render sanitised it
}

// bodyControl is where a text is typed.
func bodyControl(value string) ui.Control {
	return ui.Control{Kind: "textarea", Name: "body", Label: "Text", Hint: "Markdown: # a heading, **bold**, [a link](https://example.com), - a list.", Value: value, Lines: 18}
}
