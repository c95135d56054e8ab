package ui

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strconv"

	"github.com/tillwright/tillwright/server/locale"
)

// The addresses of the gallery, which shows all parts in each of their states to whoever changes one. The first has the parts of buyers' pages, the
// second those of the dashboard.
const (
	GalleryPath     = "/dev/parts"
	DeskGalleryPath = GalleryPath + "/dashboard"
)

// ServeGallery answers with the page of the gallery at the address of the request. It is in the language or pseudo-locale that ?locale= names, or
// else in English.
func ServeGallery(w http.ResponseWriter, r *http.Request) error {
	tag := r.URL.Query().Get("locale")
	l := cmp.Or(locale.Pseudo(tag), locale.Find(tag), locale.English)
	write := writeGallery
	if r.URL.Path == DeskGalleryPath {
		write = writeDeskGallery
	}
	var page bytes.Buffer
	if err := write(&page, l); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' "+SheetHash()+"; img-src "+FaviconPolicy+"; form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	return WriteHTML(w, r, http.StatusOK, page.Bytes())
}

// sampleProblems are what the summary of what is wrong shows.
var sampleProblems = []Problem{{Text: "The total has changed. Look at it, and pay again."}, {Field: "wrong", Label: "Postal code", Text: "Write at most 32 characters."}}

// sampleBadges are the states that badges show.
var sampleBadges = []Badge{
	{Text: "Draft", Icon: "clock"}, {Text: "Paid", Tone: "good", Icon: "check"}, {Text: "Due", Tone: "warn", Icon: "clock"}, {Text: "Past due", Tone: "bad", Icon: "alert"},
	{Text: "Void", Tone: "void", Icon: "cross"}, {Text: "Refunded", Icon: "returned"}, {Text: "Locked", Icon: "lock"}, {Text: "Downloaded", Icon: "download"},
}

// writeGallery writes the parts of buyers' pages.
func writeGallery(w io.Writer, l *locale.Locale) error {
	pages, err := In(l, files, nil, nil, []string{"gallery.html"})
	if err != nil {
		return err
	}
	return pages.Write(w, "gallery.html", Frame{Title: "Parts", Shop: &Shop{Name: "Kestrel Field Guides", Support: "help@kestrel.example"}, Problems: sampleProblems}, struct {
		Fields, Pair []Field
		Badges       []Badge
	}{
		Fields: []Field{
			{Name: "plain", Label: "E-mail address", Type: "email", Value: "grace@example.com", Required: true},
			{Name: "optional", Label: "Name", Optional: true, Placeholder: "As on your card"},
			{Name: "hinted", Label: "Tax id", Hint: "Such as DE123456789."},
			{Name: "wrong", Label: "Postal code", Value: "2581325813258132581325813258132581", Problem: "Write at most 32 characters."},
			{Name: "both", Label: "Amount", Hint: "At least €5.00.", Value: "ten", Problem: "Write an amount like 12.50.", InputMode: "decimal"},
		},
		Pair:   []Field{{Name: "expiry", Label: "Expiry", Placeholder: "12/34"}, {Name: "cvc", Label: "CVC", Problem: "Check the number."}},
		Badges: sampleBadges,
	})
}

// writeDeskGallery writes the parts of the dashboard.
func writeDeskGallery(w io.Writer, l *locale.Locale) error {
	pages, err := In(l, files, nil, nil, []string{Desk})
	if err != nil {
		return err
	}
	sheet, err := DeskSheet()
	if err != nil {
		return err
	}
	menu := &Menu{Account: "Kestrel Field Guides", Person: "grace@example.com", Accounts: true, Items: []MenuItem{{Text: "Parts", Address: DeskGalleryPath, Current: true}, {Text: "Parts of buyers' pages", Address: GalleryPath}}}
	return pages.Write(w, Desk, Frame{Title: "Parts", Menu: menu, Sheet: sheet.Address, Problems: sampleProblems}, samplePage())
}

// samplePage has all that a page of the dashboard can have.
func samplePage() Page {
	here := func(text string) Link { return Link{Text: text, Address: DeskGalleryPath} }
	up, primary, danger := here("What it is a part of"), here("Primary"), here("Danger")
	primary.Primary, danger.Danger = true, true
	bars := make([]Point, 12)
	for i := range bars {
		bars[i] = Point{Name: "Day " + strconv.Itoa(i+1), Value: int64(i * i * 100), Shown: strconv.Itoa(i * i * 100)}
	}
	return Page{
		Heading: "Parts of the dashboard", Up: &up, Badge: &sampleBadges[1], Lead: "Every part in each of its states.", Notice: "It did not work.", NoticeBad: true,
		Secrets: []Control{{Kind: "secret", Name: "token", Label: "Token", Value: "sk_01k0000000000000000000000a"}},
		Actions: []Link{primary, here("Secondary"), danger},
		Tabs:    []MenuItem{{Text: "This part", Address: DeskGalleryPath, Current: true}, {Text: "Another part", Address: DeskGalleryPath}},
		Stats: []Stat{
			{Name: "Revenue", Figure: "€1,234.50", Change: "12% more than in the 30 days before", Address: DeskGalleryPath}, {Name: "Orders", Figure: "1,000+"},
		},
		Steps: []Step{{Text: "Make a product", Address: DeskGalleryPath, Done: true}, {Text: "Take payments", Address: DeskGalleryPath}},
		Filter: &Form{Get: true, Inline: true, Submit: "Show", Controls: []Control{
			{Name: "q", Label: "Name or e-mail", Value: "grace"}, {Kind: "select", Name: "status", Label: "Status", Options: []Option{{Text: "All"}, {Value: "paid", Text: "Paid", Chosen: true}}},
		}},
		Table: sampleTable(),
		Form:  sampleForm(),
		Sections: []Section{
			{Title: "Facts", Text: "What stands above them.", Terms: []Term{{Name: "Name", Value: Cell{Text: "Grace Hopper"}}, {Name: "Nothing"}, {Name: "Id", Value: Cell{Text: "cus_01k0000000000000000000000a", Code: true}}}, Links: []Link{here("More"), danger}},
			{Title: "Chart", Chart: NewChart("Revenue by day", "Revenue", bars, func(n int64) string { return strconv.FormatInt(n, 10) })},
			{Title: "Code", Code: "curl https://shop.example/v1/products -H 'Authorization: Bearer ...'", Forms: []Form{{Inline: true, Submit: "Publish", Name: "Publish: Handbook"}, {Inline: true, Submit: "Delete", Danger: true}}},
			{Title: "Prose", Prose: "<p>What somebody <em>wrote</em>.</p>"},
			{Title: "Empty", Table: &Table{Label: "Products", Empty: &Empty{Text: "There is none yet.", Action: &primary, Curl: "curl -X POST https://shop.example/v1/products"}}},
		},
	}
}

func sampleTable() *Table {
	t := &Table{Label: "Orders", Columns: []string{"Order", "Status", "When", "Note", "Total"}, Newer: DeskGalleryPath, Older: DeskGalleryPath}
	for i := range sampleBadges {
		t.Rows = append(t.Rows, []Cell{
			{Text: strconv.Itoa(1042 - i), Address: DeskGalleryPath}, {Badge: &sampleBadges[i]}, {Time: &Moment{Shown: "25 November 2026, 09:30", Machine: "2026-11-25T09:30:00Z", Zone: "UTC"}}, {},
			{Text: "€52.48", Number: true},
		})
	}
	return t
}

// sampleForm has each kind of control, as it is and with what is wrong with it.
func sampleForm() *Form {
	options := []Option{{Value: "a", Text: "One"}, {Value: "b", Text: "Another", Chosen: true}}
	kinds := func(suffix, problem string) []Control {
		return []Control{
			{Name: "text" + suffix, Label: "Text", Hint: "What it is for.", Value: "Handbook", Required: true, Problem: problem, Group: cmp.Or(problem, "Controls")},
			{Kind: "password", Name: "password" + suffix, Label: "Password", Autocomplete: "new-password", Problem: problem},
			{Name: "price" + suffix, Label: "Price", Unit: "EUR", Value: "20.00", InputMode: "decimal", Problem: problem},
			{Kind: "date", Name: "date" + suffix, Label: "Day", Optional: true, Problem: problem},
			{Kind: "textarea", Name: "lines" + suffix, Label: "Lines", Lines: 3, Value: "One\nTwo", Problem: problem},
			{Kind: "select", Name: "choice" + suffix, Label: "Choice", Options: options, Problem: problem},
			{Kind: "checkbox", Name: "tick" + suffix, Label: "Tick", Hint: "What it does.", Checked: true, Problem: problem},
			{Kind: "checkboxes", Name: "ticks" + suffix, Label: "Ticks", Options: options, Optional: true, Problem: problem},
			{Kind: "file", Name: "file" + suffix, Label: "File", Problem: problem},
		}
	}
	wrong := kinds("-wrong", "This is wrong.")
	wrong[0].Name, wrong[0].ID = "wrong", "wrong"
	return &Form{
		Text: "What will happen.", Submit: "Save", Cancel: DeskGalleryPath, Above: true, Buttons: []Button{{Text: "Preview", Name: "do", Value: "preview"}, {Text: "Delete", Name: "do", Value: "delete", Danger: true}},
		Controls: append(kinds("", ""), wrong...),
		Parts:    []Part{{Title: "A part of it", Controls: []Control{{Name: "part", Label: "Text"}}, Buttons: []Button{{Text: "Move up", Name: "do", Value: "up"}, {Text: "Remove", Name: "do", Value: "remove", Danger: true}}}},
	}
}
