package contract

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// newBytes sends a new version of a file, and completes it.
func newBytes(t *testing.T, raw *harness.Client, file, bytes string, tells bool) {
	t.Helper()
	c := raw.SDK()
	v := ok[*sdk.FileVersion](t)(c.Files.CreateVersion(background, file, &sdk.FileVersionCreate{Size: int64(len(bytes)), TellBuyers: &tells}))
	if v.TellBuyers != tells {
		t.Errorf("the version is %+v", v)
	}
	sendBytes(t, raw, v.Upload.URL, bytes)
	ok[*sdk.File](t)(c.Files.Complete(background, file))
}

// told returns to whom the letters about a file went, once there are that many.
func told(t *testing.T, c *sdk.Client, many int) []string {
	t.Helper()
	if !comes(func() bool {
		letters, settled := lettersOf(t, c, "file_updated")
		return settled && len(letters) == many
	}) {
		letters, _ := lettersOf(t, c, "file_updated")
		t.Fatalf("the letters are %+v, not %d", letters, many)
	}
	var to []string
	letters, _ := lettersOf(t, c, "file_updated")
	for _, l := range letters {
		if l.Status == sdk.LetterStatusSent {
			to = append(to, *l.To)
		}
	}
	slices.Sort(to)
	return to
}

// Who has the file by two products has one letter; who has it no more has none.
func TestLetters_TellOfANewVersionOfAFileIfAsked(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		raw := s.Account(t)
		c := raw.SDK()
		made := newFile(t, c, &sdk.FileCreate{Name: "Course.zip", Size: 5})
		sendBytes(t, raw, made.Upload.URL, "hello")
		ok[*sdk.File](t)(c.Files.Complete(background, made.ID))
		var prices []*sdk.PriceVariant
		for range 3 {
			price := onSale(t, c, 1900)
			ok[*sdk.Product](t)(c.Products.Update(background, price.Product.ID, &sdk.ProductUpdate{Deliverables: []sdk.Deliverable{{Type: "file", Ref: &made.ID}}}))
			prices = append(prices, price)
		}
		ok[*sdk.Product](t)(c.Products.Update(background, prices[2].Product.ID, &sdk.ProductUpdate{DeliveryUpdates: new(sdk.DeliveryUpdates("new_buyers"))}))
		order := purchase(t, c, "ada@example.com", prices[0])
		purchase(t, c, "ada@example.com", prices[1])
		purchase(t, c, "keeps@example.com", prices[2])
		bobs := readers("bob")
		bob := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: bobs}))
		ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: bob.ID, Product: prices[0].Product.ID}))
		gone := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "gone@example.com"}))
		revoked := ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: gone.ID, Product: prices[0].Product.ID}))
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, revoked.ID))

		newBytes(t, raw, made.ID, "second", false)
		newBytes(t, raw, made.ID, "the third", true)
		if to := told(t, c, 2); !slices.Equal(to, []string{"ada@example.com", bobs}) {
			t.Errorf("told are %v", to)
		}
		letters := ok[*sdk.LetterList](t)(c.Letters.List(background, &sdk.ListLettersParams{Kind: new(sdk.LetterKind("file_updated")), Customer: &order.Customer.ID})).Data
		require.Len(t, letters, 1, "the letters")
		require.Equal(t, "file", letters[0].About.Object, "the letters")
		require.Equal(t, made.ID, letters[0].About.ID, "the letters")
		tells(t, s, letters[0], "New version of Course.zip from Test", "There is a new version of Course.zip, which you have from Test.")
		_, after, _ := strings.Cut(arrived(s, letters[0].ID).Text, "/files/")
		token, _, _ := strings.Cut(after, "\n")
		response, err := http.Get(s.URL + "/files/" + strings.TrimSpace(token))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if bytes, err := io.ReadAll(response.Body); string(bytes) != "the third" {
			t.Errorf("the link gives %q, %v", bytes, err)
		}

		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"file_updated": false}}))
		newBytes(t, raw, made.ID, "and the fourth", true)
		if !comes(func() bool {
			return len(s.Strings(t, "SELECT id FROM file_notices WHERE file_id = '"+made.ID+"'")) == 0
		}) {
			t.Fatal("the notice stays")
		}
		told(t, c, 2)
	})
}
