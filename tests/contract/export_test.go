package contract

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// ofOne is why the lists below a path are no files: they are of one object, and as short as a person reads.
const ofOne = "a list of one object"

// notExported has the lists that cannot be had as files, with the reason.
var notExported = map[string]string{
	"listAPIKeys":            "what it shows of keys is of no use outside of here",
	"listLicenseSigningKeys": "programs that check licences read it",

	"listAds":             "its figures are the network's, which is asked for each page",
	"listAdCampaigns":     "its figures are the network's, which is asked for each page",
	"listAdAccounts":      "the network's own",
	"listAdAudiences":     "the network's own",
	"listBusinessCenters": "the network's own",
	"listAdPixels":        "the network's own",
	"listAdCapabilities":  "says what the networks can do",
	"searchAdTargeting":   "the network's own",

	"listWebhookEventTypes": "says what there is to subscribe to",
	"listWebhookEvents":     "is read by programs, and kept for days",
	"search":                "of several lists, which are files themselves",

	"listAdCampaignAdGroups": ofOne, "listAdMetrics": ofOne, "listAdGroupMetrics": ofOne, "listAdCampaignMetrics": ofOne, "listAISiteVersions": ofOne,
	"listBlogPostVersions": ofOne, "listCustomerBalanceTransactions": ofOne, "listCustomerPaymentMethods": ofOne, "listDiscountRedemptions": ofOne, "listFileVersions": ofOne,
	"listInvoiceLines": ofOne, "listLegalPageVersions": ofOne, "listLicenseActivations": ofOne, "listSocialPosts": ofOne, "listWebhookDeliveries": ofOne,
}

// ownColumns are the exports whose columns are not the API's, because they were there first.
var ownColumns = []string{"exportCustomers", "exportLeads", "exportLicenseKeys", "exportOrders", "exportSubscriptions"}

// unlisted are the fields that a list shows and its file does not.
var unlisted = map[string][]string{
	"exportCheckouts":  {"next_action", "url", "client_secret"},
	"exportBlogPosts":  {"body_html"},
	"exportLegalPages": {"body_html"},
	"exportAISites":    {"content"},
	"exportFiles":      {"upload"},
	"exportActivity":   {"changes"},
}

func TestEveryList_CanBeHadAsAFileOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	left := maps.Clone(notExported)
	every(t, (*harness.Operation).AnswersList, func(t *testing.T, op *harness.Operation) {
		reason := left[op.ID]
		delete(left, op.ID)
		exported := slices.ContainsFunc(harness.Operations(), func(o *harness.Operation) bool { return o.Path == op.Path+"/export" })
		assert.NotEqual(t, exported, reason != "", "mark it with x-export, or give a reason here")
		assert.Equal(t, reason == ofOne, strings.Contains(op.Path, "{"), "only what is below one object is of one")
	})
	assert.Empty(t, left, "these are no lists")
}

// sheet fetches an export with the filters of a query.
func (w *world) sheet(t *testing.T, op *harness.Operation, query url.Values) (head []string, rows [][]string) {
	t.Helper()
	signed, err := url.Parse(w.Must(t, http.MethodGet, w.at(op, query.Encode()), nil)["url"].(string))
	require.NoError(t, err)
	file := w.Do(t, http.MethodGet, signed.Path, nil, "Authorization", "")
	require.Equal(t, http.StatusOK, file.Status, string(file.Body))
	for _, secret := range []string{w.Secret, w.License, w.Key} {
		require.NotContains(t, string(file.Body), secret)
	}
	require.NotRegexp(t, `\b(sk|whsec)_`, string(file.Body))
	rows, err = csv.NewReader(bytes.NewReader(file.Body)).ReadAll()
	require.NoError(t, err)
	return rows[0], rows[1:]
}

// A file has what its list shows with the same filters, in the list's order, and a cell for each of the list's fields.
func TestEveryExport_IsWhatItsListShows(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w, chance := newWorld(t, s), seeded(t)
		w.Client = w.fresh(t, s)
		w.trade(t, chance)
		w.post(t)
		w.Client = w.fresh(t, s)
		all := w.survey(t)
		every(t, func(op *harness.Operation) bool { return strings.HasSuffix(op.Path, "/export") }, func(t *testing.T, export *harness.Operation) {
			w := w.with(w.fresh(t, s).Key)
			list := harness.ByID(strings.Replace(export.ID, "export", "list", 1))
			var items []item
			for _, object := range w.walk(t, list, url.Values{}) {
				items = append(items, item{list.ID, object, all})
			}
			head, rows := w.sheet(t, export, url.Values{})
			require.Len(t, rows, len(items))
			require.NotEmpty(t, rows)
			for i, row := range rows {
				require.Equal(t, items[i].text("id"), row[0])
				if !slices.Contains(ownColumns, export.ID) {
					agree(t, export, head, row, items[i].of)
				}
			}
			for name, values := range w.filters(list, items) {
				if !slices.ContainsFunc(export.QueryParameters(), func(p *openapi3.Parameter) bool { return p.Name == name }) || len(values) == 0 {
					continue
				}
				query := url.Values{}
				if name == "metadata" {
					name = "metadata[shelf]"
				}
				query.Set(name, values[chance.IntN(len(values))])
				want, got := []string{}, []string{}
				for _, object := range w.walk(t, list, maps.Clone(query)) {
					want = append(want, fmt.Sprint(object["id"]))
				}
				_, rows := w.sheet(t, export, query)
				for _, row := range rows {
					got = append(got, row[0])
				}
				require.Equal(t, want, got, "%s?%s", export.ID, query.Encode())
			}
		})
	})
}

// agree checks a row of a file against an object of its list.
func agree(t *testing.T, export *harness.Operation, head, row []string, object map[string]any) {
	t.Helper()
	missing := maps.Clone(object)
	delete(missing, "object")
	for i, column := range head {
		first, _, _ := strings.Cut(column, ".")
		require.Contains(t, object, first)
		delete(missing, first)
		switch want := at(object, column).(type) {
		case nil:
			if column != "body" { // which a list does not read
				assert.Empty(t, row[i], column)
			}
		case []any, map[string]any:
			var got any
			if row[i] == "" {
				assert.Empty(t, want, column)
				continue
			}
			require.NoError(t, json.Unmarshal([]byte(row[i]), &got), column)
			assert.Equal(t, want, got, column)
		case float64:
			var got float64
			require.NoError(t, json.Unmarshal([]byte(row[i]), &got), column)
			assert.InDelta(t, want, got, 0, column)
		default:
			assert.Equal(t, fmt.Sprint(want), row[i], column)
		}
	}
	assert.ElementsMatch(t, unlisted[export.ID], slices.Collect(maps.Keys(missing)))
}

// at returns the field of an object that a column names, nil behind null.
func at(object map[string]any, column string) any {
	first, rest, deeper := strings.Cut(column, ".")
	if !deeper {
		return object[first]
	}
	inner, _ := object[first].(map[string]any)
	return at(inner, rest)
}

func TestExport_HasTheBodiesThatAListDoesNotRead(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorldOfSales(t, s)
		for id, want := range map[string]string{"exportBlogPosts": "Hello", "exportLegalPages": "Be kind"} {
			head, rows := w.sheet(t, harness.ByID(id), url.Values{"status": {"published"}})
			require.Len(t, rows, 1)
			assert.Equal(t, want, rows[0][slices.Index(head, "body")])
		}
	})
}

// A file stands where the object of a slug would.
func TestExport_IsNoSlug(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for range 2 {
			named := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Export"}))
			assert.Regexp(t, "^export-[0-9-]+$", named.Slug)
			_, err := c.Products.Update(background, named.ID, &sdk.ProductUpdate{Slug: new("export")})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "slug")
		}
		_, err := c.AISites.Create(background, &sdk.AISiteCreate{Name: "A", Subdomain: new("export")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "subdomain")
	})
}

func TestExport_RefusesWhatItsListRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		isSigned(t, ok[*sdk.SignedURL](t)(c.Refunds.Export(background, &sdk.ExportRefundsParams{})))
		_, err := c.Refunds.Export(background, &sdk.ExportRefundsParams{Customer: new(randomID("cus"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "customer")
	})
}

// A key that may no longer list customers has no file of them either, though it serves for other things. Nor has a key that it made.
func TestExport_EndsWithItsScopes(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorldOfSales(t, s)
		made := w.Must(t, http.MethodPost, "/v1/auth/keys", map[string]any{"name": "limited", "scopes": []string{"customers:read", "keys:write"}})
		parent := w.with(made["token"].(string))
		child := w.with(parent.Must(t, http.MethodPost, "/v1/auth/keys", map[string]any{"name": "its", "scopes": []string{"customers:read"}})["token"].(string))
		for _, c := range []*world{child, parent} {
			signed, err := url.Parse(c.Must(t, http.MethodGet, "/v1/customers/export", nil)["url"].(string))
			require.NoError(t, err)
			weaken := func(scopes ...string) int {
				w.Must(t, http.MethodPatch, "/v1/auth/keys/"+made["id"].(string), map[string]any{"scopes": scopes})
				return w.Do(t, http.MethodGet, signed.Path, nil, "Authorization", "").Status
			}
			require.Equal(t, http.StatusOK, weaken("customers:read", "keys:write"))
			assert.Equal(t, http.StatusGone, weaken("keys:write"))
			weaken("customers:read", "keys:write")
		}
	})
}

// Whoever asked for a file with a key that was deleted has nothing in its address any more.
func TestExport_EndsWithItsKey(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorldOfSales(t, s)
		limited := w.with(s.Key(t, w.Account, "customers:read"))
		signed, err := url.Parse(limited.Must(t, http.MethodGet, "/v1/customers/export", nil)["url"].(string))
		require.NoError(t, err)
		status := func() int { return w.Do(t, http.MethodGet, signed.Path, nil, "Authorization", "").Status }
		require.Equal(t, http.StatusOK, status())
		for _, key := range w.Must(t, http.MethodGet, "/v1/auth/keys?limit=100", nil)["data"].([]any) {
			if key := key.(map[string]any); fmt.Sprint(key["scopes"]) == "[customers:read]" {
				w.Must(t, http.MethodDelete, "/v1/auth/keys/"+key["id"].(string), nil)
			}
		}
		assert.Equal(t, http.StatusGone, status(), "deleted")
	})
}
