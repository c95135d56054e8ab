package dashboard_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
)

// handbook is the form of a product.
func handbook() url.Values {
	return url.Values{"name": {`Handbook <img src=x onerror=alert(1)>`}, "headline": {"On ships"}, "amount": {"20,00"}, "currency": {"eur"}, "amount_type": {"fixed"}, "interval": {""}}
}

func TestProducts_AreMadePublishedAndGivenFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app/products", "There is none yet.", "New product", "curl ")
		form := handbook()
		form.Set("once", between(t, sees(t, w.owner, "/app/products/new", "Create product", `name="amount"`), `name="once" value="`, `"`))
		address := sends(t, w.owner, "/app/products/new", form)
		require.Equal(t, address, sends(t, w.owner, "/app/products/new", form), "a double click makes one")
		page := sees(t, w.owner, address, "The product was made.", "Draft", "Publish", "EUR\u00a020.00", "&lt;img src=x onerror=alert(1)&gt;")
		require.NotContains(t, page, "<img")
		for _, move := range []struct{ button, badge string }{{"publish", "Active"}, {"unpublish", "Draft"}, {"archive", "Archived"}, {"unarchive", "Draft"}, {"publish", "Active"}} {
			sends(t, w.owner, address+"/"+move.button, nil)
			sees(t, w.owner, address, move.badge+"</span>")
		}
		status, page := w.owner.Post(address+"/unarchive", nil)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "There is a problem")

		sends(t, w.owner, address, url.Values{"name": {"Handbook"}, "headline": {""}, "description": {"Ships\r\nand sails"}, "cover_url": {"https://example.com/book.jpg"}})
		sends(t, w.owner, address+"/prices", url.Values{"amount": {"5"}, "currency": {"usd"}, "amount_type": {"custom"}, "interval": {"month"}})
		sees(t, w.owner, address, "Handbook</h1>", "From USD\u00a05.00 a month", "Ships", `value="https://example.com/book.jpg"`, "The picture is being fetched.")
		sends(t, w.owner, address, url.Values{"name": {"Handbook"}})
		sees(t, w.owner, address, "Ships", `value="https://example.com/book.jpg"`) // what was not sent stays
		_, page = w.owner.Post(address, url.Values{"name": {""}, "headline": {"On ships"}})
		require.Contains(t, page, `value="https://example.com/book.jpg"`)
		require.Contains(t, page, `value="On ships"`)
		sends(t, w.owner, address, url.Values{"name": {"Handbook"}, "headline": {""}})
		content := strings.Repeat("a file\r\n--not-its-boundary--\r\n", 10_000)
		status, to := upload(t, w.owner, address+"/files", "file", "Guide ä.pdf", content)
		require.Equal(t, http.StatusSeeOther, status, to)
		sees(t, w.owner, address, "Guide ä.pdf was added.")

		p, err := w.api.SDK().Products.Get(t.Context(), strings.TrimPrefix(address, "/app/products/"))
		require.NoError(t, err)
		require.Nil(t, p.Headline)
		require.Len(t, p.PriceVariants, 2)
		f, err := w.api.SDK().Files.Get(t.Context(), *p.Deliverables[0].Ref)
		require.NoError(t, err)
		require.Equal(t, int64(len(content)), f.Size)
		got, err := w.api.SDK().Files.Download(t.Context(), f.ID, nil)
		require.NoError(t, err)
		response, err := http.Get(w.URL + strings.TrimPrefix(got.URL, "http://shop.test"))
		require.NoError(t, err)
		bytes, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, content, string(bytes))

		version := address + "/files/" + f.ID
		sees(t, w.owner, address, `href="`+version+`"`)
		sees(t, w.owner, version, "New version of Guide ä.pdf", "Tell buyers", `name="tell_buyers" type="checkbox" value="yes" aria-describedby="tell_buyers-hint">`)
		status, to = upload(t, w.owner, version, "file", "another name.pdf", "second", "tell_buyers")
		require.Equal(t, http.StatusSeeOther, status, to)
		sees(t, w.owner, address, "Buyers download version 2 of Guide ä.pdf now. They are sent a letter.")
		status, to = upload(t, w.owner, version, "file", "a.pdf", "third one")
		require.Equal(t, http.StatusSeeOther, status, to)
		sees(t, w.owner, address, "Buyers download version 3 of Guide ä.pdf now.")
		versions, err := w.api.SDK().Files.ListVersions(t.Context(), f.ID, nil)
		require.NoError(t, err)
		require.Equal(t, []int64{9, 6, int64(len(content))}, []int64{versions.Data[0].Size, versions.Data[1].Size, versions.Data[2].Size})
		require.Equal(t, []bool{false, true, false}, []bool{versions.Data[0].TellBuyers, versions.Data[1].TellBuyers, versions.Data[2].TellBuyers})
		status, to = upload(t, w.owner, version, "file", "a.pdf", "", "tell_buyers")
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, to, "Choose a file that is not empty.")

		sees(t, w.owner, "/app/products?q=hand&status=active", "Handbook")
		sees(t, w.owner, "/app/products?q=nothing", "Nothing matches.", "Clear")
		status, _ = w.owner.Get("/app/products?status=wrong")
		require.Equal(t, http.StatusUnprocessableEntity, status)
	})
}

// upload sends one file as a browser does, with ticks before it.
func upload(t *testing.T, p *harness.Person, path, field, name, content string, ticks ...string) (int, string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, tick := range ticks {
		require.NoError(t, form.WriteField(tick, "yes"))
	}
	part, err := form.CreateFormFile(field, name)
	require.NoError(t, err)
	_, _ = part.Write([]byte(content))
	require.NoError(t, form.Close())
	response, err := p.HTTP.Post(p.URL+path, form.FormDataContentType(), &body)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func TestProducts_SayWhatIsWrong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for field, wrong := range map[string]string{"name": "", "amount": "twenty", "currency": "xxx", "interval": "decade", "amount_type": "bid", "headline": strings.Repeat("x", 300)} {
			form := handbook()
			form.Set(field, wrong)
			status, page := w.owner.Post("/app/products/new", form)
			require.Equal(t, http.StatusUnprocessableEntity, status, field)
			require.Contains(t, page, "There is a problem", field)
			if field != "headline" {
				require.Contains(t, page, `value="On ships"`, field)
			}
		}
		list, err := w.api.SDK().Products.List(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, list.Data)

		address := sends(t, w.owner, "/app/products/new", handbook())
		for name, send := range map[string]func() (int, string){
			"no form":       func() (int, string) { return w.owner.Post(address+"/files", url.Values{"file": {"x"}}) },
			"an empty file": func() (int, string) { return upload(t, w.owner, address+"/files", "file", "a.txt", "") },
			"no name":       func() (int, string) { return upload(t, w.owner, address+"/files", "file", "", "abc") },
			"another field": func() (int, string) { return upload(t, w.owner, address+"/files", "picture", "a.txt", "abc") },
			"a long name": func() (int, string) {
				return upload(t, w.owner, address+"/files", "file", strings.Repeat("x", 5000), "abc")
			},
		} {
			status, page := send()
			require.Equal(t, http.StatusUnprocessableEntity, status, name)
			require.Contains(t, page, "There is a problem", name)
		}
		support := w.Member(t, w.api.Account, person.RoleSupport)
		status, _ := upload(t, support, address+"/files", "file", "a.txt", "abc")
		require.Equal(t, http.StatusForbidden, status)
		page := sees(t, support, address)
		require.NotContains(t, page, "Publish")
		require.NotContains(t, page, "Upload")
	})
}

func TestProducts_TurnTheirPages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		api := w.api.SDK()
		for range 60 {
			_, err := api.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Book"})
			require.NoError(t, err)
		}
		first := sees(t, w.owner, "/app/products?q=book")
		require.NotContains(t, first, ">Newer<")
		older := strings.ReplaceAll(between(t, first, `rel="next" href="`, `"`), "&amp;", "&")
		second := sees(t, w.owner, "/app/products"+older)
		require.Contains(t, older, "q=book")
		third := sees(t, w.owner, "/app/products"+strings.ReplaceAll(between(t, second, `rel="next" href="`, `"`), "&amp;", "&"))
		require.NotContains(t, third, ">Older<")
		back := sees(t, w.owner, "/app/products"+strings.ReplaceAll(between(t, third, `rel="prev" href="`, `"`), "&amp;", "&"))
		row := func(page string) string { return between(t, page, "<tbody>", "</tbody>") }
		require.Equal(t, row(second), row(back))
		require.NotEqual(t, row(first), row(second))
	})
}
