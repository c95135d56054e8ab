package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// showsSecret names the only operations that answer with a signing secret.
var showsSecret = []string{"createWebhookEndpoint", "rotateWebhookSecret"}

// showsItsSecret checks that an answer has a signing secret if it is the one in which that is made, and otherwise has none.
func showsItsSecret(t *testing.T, op *harness.Operation, answer *harness.Response) {
	t.Helper()
	shown := bytes.Contains(answer.Body, []byte("whsec_"))
	if shown != slices.Contains(showsSecret, op.ID) {
		t.Errorf("it shows a secret: %t", shown)
	}
}

// deliversNoSecret checks all that a server has sent to a receiver.
func deliversNoSecret(t *testing.T, s *harness.Server) {
	t.Helper()
	for _, d := range s.Hooks.Deliveries() {
		assert.False(t, bytes.Contains(d.Body, []byte("whsec_")), "a secret is delivered")
		assert.NotContains(t, fmt.Sprint(d.Header), "whsec_", "a secret is delivered")
	}
}

// A client whose connection broke reads the secret by repeating itself under the same key, and nobody else does.
func TestCreateWebhookEndpoint_ShowsItsSecretAgainToItsOwnKey(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		c := s.Account(t)
		body := map[string]any{"url": s.Hooks.URL}
		first := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", body, "Idempotency-Key", "mine")
		again := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", body, "Idempotency-Key", "mine")
		theirs := s.Account(t).Must(t, http.MethodPost, "/v1/webhook_endpoints", body, "Idempotency-Key", "mine")
		assert.False(t, again["secret"] != first["secret"])
		assert.False(t, again["id"] != first["id"])
		assert.False(t, theirs["secret"] == first["secret"], "another account")
		assert.False(t, theirs["id"] == first["id"], "another account")
	})
}

// confidential finds what answers show that somebody could sign with, log in with or pay with.
var confidential = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{20,}=*|\bsk_[0-9a-z]{20,}|chk_[0-9a-z]{26}_secret_\w{20,}`)

func TestDatabase_HoldsNoSecretInTheOpen(t *testing.T) {
	t.Parallel()
	concerned := func(op *harness.Operation) bool {
		return op.IsWrite() && regexp.MustCompile("webhook|/keys|/checkouts").MatchString(op.Path)
	}
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		var secrets []string
		on := newStage(t, s)
		every(t, concerned, func(t *testing.T, op *harness.Operation) {
			var answer *harness.Response
			w := on.perform(t, op, func(w *world) (done bool) {
				answer = w.send(t, op, "Idempotency-Key", "sealed by "+op.ID)
				return answer.Status < 300
			})
			answered(t, op, answer)
			endpoint := w.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": w.Hooks}, "Idempotency-Key", "endpoint beside "+op.ID)
			secrets = append(secrets, w.Key, w.Secret, endpoint["secret"].(string))
			secrets = append(secrets, confidential.FindAllString(string(answer.Body), -1)...)
		})
		held := s.Dump(t)
		if path, found := strings.CutPrefix(url, "sqlite://"); found { // with what was deleted, and not cleaned up
			for _, suffix := range []string{"", "-wal"} {
				raw, err := os.ReadFile(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, raw...)
			}
		}
		if !bytes.Contains(held, []byte(s.Hooks.URL)) {
			t.Fatal("the dump does not hold what is no secret: it proves nothing")
		}
		for _, prefix := range []string{"whsec_", "sk_", "chk_"} {
			if !slices.ContainsFunc(secrets, func(secret string) bool { return strings.HasPrefix(secret, prefix) }) {
				t.Errorf("no answer showed a secret that begins with %s", prefix)
			}
		}
		for _, secret := range secrets {
			random := secret[strings.LastIndex(secret, "_")+1:]
			key, err := base64.StdEncoding.DecodeString(random)
			assert.False(t, bytes.Contains(held, []byte(random)), "the database holds %s", secret)
			assert.False(t, err == nil && bytes.Contains(held, key), "the database holds %s", secret)
		}
		if at := confidential.FindIndex(held); at != nil {
			t.Errorf("the database holds %q", held[max(0, at[0]-60):min(len(held), at[1]+60)])
		}
	})
}

// The largest products make the largest events: nothing of one is dropped on its way.
func TestDelivery_OfAVeryLargeProductArrivesWhole(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		hooks := harness.NewReceiver(t)
		c := s.Account(t)
		e := endpoint(t, c.SDK(), hooks.URL, sdk.EventProductCreated)
		made := c.Must(t, http.MethodPost, "/v1/products", veryLargeProduct(t))
		d := hooks.Await(t, 1, sdk.EventProductCreated)[0]
		event := ok[*sdk.Event](t)(sdk.VerifyWebhook(d.Body, d.Header, *e.Secret))
		if len(d.Body) < 256<<10 {
			t.Errorf("the event has %d bytes: there are larger ones", len(d.Body))
		}
		told := map[string]any{}
		if err := json.Unmarshal(event.Data, &told); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"id", "name", "description", "deliverables", "custom_fields", "metadata"} {
			if !reflect.DeepEqual(told[field], made[field]) {
				t.Errorf("the event shows another %s", field)
			}
		}
	})
}

// veryLargeProduct is the body of a product whose fields are as long as they may be, with characters that grow when they
// are escaped.
func veryLargeProduct(t *testing.T) []byte {
	t.Helper()
	times := func(n int, v any) []any {
		all := make([]any, n)
		for i := range all {
			all[i] = v
		}
		return all
	}
	choice := strings.Repeat("<", 100)
	product := map[string]any{
		"name": strings.Repeat("&", 255), "description": strings.Repeat("<\u2028", 10000),
		"deliverables": times(100, map[string]any{"type": "link", "ref": "https://example.com/?" + strings.Repeat("&", 2027)}),
	}
	var fields []any
	for i := range 20 {
		fields = append(fields, map[string]any{"key": fmt.Sprint("field_", i), "label": choice, "type": "select", "options": choices(choice)})
	}
	product["custom_fields"] = fields
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(product); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// choices are a hundred different texts of the same length.
func choices(like string) []string {
	all := make([]string, 100)
	for i := range all {
		all[i] = like[:98] + fmt.Sprintf("%02d", i)
	}
	return all
}
