package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// objectOf is an object as it is sent or answered, with its numbers as they are written.
func objectOf(t *testing.T, text []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	object := map[string]any{}
	if err := d.Decode(&object); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return object
}

// warning is what an answer says about a field that an ad does not have, "" if it does not name it.
func warning(answer map[string]any, name string) string {
	if short := []rune(name); len(short) > 100 {
		name = string(short[:100]) + "…"
	}
	warnings, _ := answer["warnings"].([]any)
	for _, one := range warnings {
		if text := fmt.Sprint(one); strings.HasPrefix(text, `"`+name+`" `) {
			return text
		}
	}
	return ""
}

// accountsFor fails the test if something that was sent besides an ad's own fields is not named, or named as kept and not shown.
func accountsFor(t *testing.T, answer, sent map[string]any) {
	t.Helper()
	for name, value := range objectOf(t, harness.Encode(sent)) {
		shown, there := answer[name]
		switch said := warning(answer, name); {
		case strings.Contains(said, "was ignored"):
		case strings.Contains(said, "kept") && there && reflect.DeepEqual(shown, value):
		default:
			t.Errorf("%.120q: %.120v is shown as %.120v, and the warnings are %.300v", name, value, shown, answer["warnings"])
		}
	}
	warnings, _ := answer["warnings"].([]any)
	for _, warning := range warnings {
		if text := fmt.Sprint(warning); len(text) > 700 {
			t.Errorf("a warning has %d bytes: %.100s", len(text), text)
		}
	}
}

// looseAd is an ad as readers see it who do not look at case.
type looseAd struct {
	ID, Object, Name, Status string
	Metrics                  struct{ Spend json.Number }
}

// oddNames are of the kinds that go wrong: of fields of the object that answers, of other spellings of fields, of no word.
var oddNames = []string{
	"id", "object", "metrics", "warnings", "creative", "created_at", "ad_type", "budget", "AdditionalProperties", "additional_properties",
	"Name", "NAME", "Status", "dailyBudget", "budgetAmount", "Budget-Amount", "HEADLINE", "linkURL", "Account_ID", "ID", "Object",
	"-", "", " ", ".", "..", "a.b", "a..b", "$ref", "__proto__", "constructor", "_", "0", "-1", "null", "true", "x y", "<script>", "a&b", `a"b`, `a\b`, "a/b~1", "%s%d",
	"Größe", "价格", "עברית", "🙂", "e\u0301", "\u202e", "\u2028", "\x7f", "\t\n", "ſtatus", "ｓｔａｔｕｓ",
}

type extraMaker struct{ *rand.Rand }

func (r extraMaker) name() string {
	switch r.IntN(8) {
	case 0:
		return strings.Repeat("long", 1+r.IntN(600))
	case 1, 2:
		word := make([]rune, r.IntN(12))
		for i := range word {
			word[i] = []rune("aZ_-.09 /\"\\é价🙂\u200d\u0001")[r.IntN(16)]
		}
		return string(word)
	case 3:
		return "utm_" + strconv.Itoa(r.IntN(1000))
	}
	return oddNames[r.IntN(len(oddNames))]
}

func (r extraMaker) value(depth int) any {
	switch kind := r.IntN(9); {
	case kind == 0:
		return nil
	case kind == 1:
		return r.IntN(2) == 0
	case kind == 2:
		return json.Number([]string{"0", "-0", "1.50", "1e5", "12345678901234567890", "-1E-30", "1e308"}[r.IntN(7)])
	case kind < 6 && depth > 0:
		object := map[string]any{}
		for range r.IntN(4) {
			object[r.name()] = r.value(depth - 1)
		}
		return object
	case kind == 6 && depth > 0:
		array := make([]any, r.IntN(4))
		for i := range array {
			array[i] = r.value(depth - 1)
		}
		return array
	}
	return r.name()
}

// taken are the fields of an ad that is sent, which are no others.
var taken = fieldsOf(reflect.TypeFor[sdk.AdCreate]())

func fieldsOf(object reflect.Type) []string {
	var names []string
	for field := range object.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "-" })
}

// besides returns up to 50 fields that are none of an ad's that is sent, within the 16 KiB that they may have.
func (r extraMaker) besides() map[string]any {
	extra := map[string]any{}
	for range 1 + r.IntN(20) {
		name, value := r.name(), r.value(3)
		grown := maps.Clone(extra)
		if grown[name] = value; !slices.Contains(taken, name) && len(harness.Encode(grown)) < 16<<10 {
			extra = grown
		}
	}
	return extra
}

// with is the draft as an object, with other fields.
func (n onNetwork) with(t *testing.T, name string, extra map[string]any) map[string]any {
	t.Helper()
	body := objectOf(t, harness.Encode(n.draft(name)))
	maps.Copy(body, extra)
	return body
}

// TestCreateAd_DropsNothingWithoutAWord sends what any client might, dry and in earnest.
func TestCreateAd_DropsNothingWithoutAWord(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		seed, _ = strconv.ParseUint(given, 10, 64)
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		r := extraMaker{rand.New(rand.NewPCG(seed, 0))}
		bodies := []map[string]any{}
		for some := range slices.Chunk(oddNames, 20) {
			extra := map[string]any{}
			for _, name := range some {
				extra[name] = "sent as " + name
			}
			bodies = append(bodies, extra)
		}
		for range 25 {
			bodies = append(bodies, r.besides())
		}
		made := map[string]map[string]any{}
		for i, extra := range bodies {
			body := n.with(t, fmt.Sprint("Extra ", i), extra)
			body["status"] = "paused"
			plan := n.raw.Do(t, http.MethodPost, "/v1/ads?dry_run=true", body)
			key := fmt.Sprint("extra-", i)
			created := n.sendUnder(t, key, body)
			require.Equal(t, http.StatusOK, plan.Status)
			require.Equal(t, http.StatusCreated, created.Status)
			answer := objectOf(t, created.Body)
			accountsFor(t, answer, extra)
			var loose looseAd
			err := json.Unmarshal(created.Body, &loose)
			require.NoError(t, err)
			assert.Equal(t, answer["id"], loose.ID)
			assert.Equal(t, "ad", loose.Object)
			assert.Equal(t, body["name"], loose.Name)
			assert.Equal(t, "paused", loose.Status)
			if planned := objectOf(t, plan.Body)["warnings"]; !reflect.DeepEqual(planned, answer["warnings"]) {
				t.Errorf("the plan warns of %v, the ad of %v", planned, answer["warnings"])
			}
			again := n.sendUnder(t, key, body)
			assert.Equal(t, string(created.Body), string(again.Body))
			assert.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
			made[answer["id"].(string)] = answer
		}
		listed := objectOf(t, n.raw.Do(t, http.MethodGet, "/v1/ads?source=native&limit=100", nil).Body)["data"].([]any)
		for _, one := range listed {
			ad := one.(map[string]any)
			answer := made[ad["id"].(string)]
			for name := range answer {
				if !slices.Contains(fieldsOf(reflect.TypeFor[sdk.Ad]()), name) && !reflect.DeepEqual(ad[name], answer[name]) {
					t.Errorf("%q was %v, and is listed as %v", name, answer[name], ad[name])
				}
			}
		}
		if len(listed) != len(bodies) {
			t.Errorf("%d of %d ads are listed", len(listed), len(bodies))
		}
	})
}

// TestCreateAd_TakesOtherFieldsFromTheSDK does so on every network.
func TestCreateAd_TakesOtherFieldsFromTheSDK(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		draft := n.draft("Other fields")
		draft.AdditionalProperties = map[string]json.RawMessage{
			"utm_source": json.RawMessage(`"news"`), "-": json.RawMessage(`[1,{"a":null}]`), "": json.RawMessage(`null`), "a.b": json.RawMessage(`1.50`), "Größe": json.RawMessage(`"XL"`),
			"Status": json.RawMessage(`"paused"`), "dailyBudget": json.RawMessage(`5`), "link-url": json.RawMessage(`{}`),
			"id": json.RawMessage(`"1"`), "metrics": json.RawMessage(`{"spend":0}`), strings.Repeat("é", 300): json.RawMessage(`true`),
			"budget_level": json.RawMessage(`null`), "targeting": json.RawMessage(`null`),
		}
		plan := ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft))
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		for name, sent := range draft.AdditionalProperties {
			shown, there := ad.AdditionalProperties[name]
			kept := !slices.Contains([]string{"id", "metrics", "Status", "budget_level", "targeting"}, name)
			assert.Equal(t, kept, there, name)
			assert.False(t, kept && string(shown) != string(sent), name)
		}
		named := map[string]any{"warnings": []any{}}
		for _, one := range ad.Warnings {
			named["warnings"] = append(named["warnings"].([]any), one)
		}
		for name, says := range map[string]string{
			"id": "was ignored: an ad has a field id itself.", "metrics": "was ignored", "Status": "was ignored: an ad has a field status itself. It does not set status.",
			"link-url": "not sent to the network. It does not set link_url.", "utm_source": "kept", "-": "kept", "": "kept", strings.Repeat("é", 300): "kept",
		} {
			if !strings.Contains(warning(named, name), says) {
				t.Errorf("of %q the warnings do not say that it %s: %q", name, says, ad.Warnings)
			}
		}
		if said := warning(named, "budget_level") + warning(named, "targeting"); said != "" {
			t.Errorf("fields of a new ad are warned of: %s", said)
		}
		assert.Equal(t, sdk.AdConfiguredStatusActive, ad.ConfiguredStatus)
		assert.NotEqual(t, "1", ad.ID)
		assert.True(t, slices.Equal(ad.Warnings, plan.Warnings))
	})
}

// TestAudienceUsers_NamesWhatNobodyHas uploads people with fields of other names, and null in those of people.
func TestAudienceUsers_NamesWhatNobodyHas(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		path := "/v1/ads/audiences/" + n.audience(t, "Named").ID + "/users"
		text := `{"users":[{"email":"ada@private.example","Email":7,"-":null,"` + strings.Repeat("é", 200) + `":{"a":[null]}}`
		for i, name := range optionalOf(reflect.TypeFor[sdk.AdAudienceUser]()) {
			if name != "email" {
				text += fmt.Sprintf(`,{"email":"person-%d@private.example","%s":null,"plan":"pro"}`, i, name)
			}
		}
		done := n.send(t, http.MethodPost, path, text+`,{"email":null,"email_sha256":"`+hashed("bob@private.example")+`"}]}`)
		answer := objectOf(t, done.Body)
		require.Equal(t, http.StatusOK, done.Status)
		require.Equal(t, "11", fmt.Sprint(answer["accepted"]))
		require.Equal(t, "0", fmt.Sprint(answer["invalid"]))
		if want := []any{"-", "Email", "plan", strings.Repeat("é", 100) + "…"}; !reflect.DeepEqual(answer["ignored"], want) {
			t.Errorf("ignored are %q, and not %q", answer["ignored"], want)
		}
		if f := n.send(t, http.MethodPost, path, `{"users":[{"Email":"ada@private.example"}]}`).Fault(t, http.StatusUnprocessableEntity, sdk.CodeValidationFailed); f.Param != "users" {
			t.Errorf("somebody with fields of other names alone: %+v", f)
		}
		n.refusedText(t, http.MethodPost, path, `{"users":[null]}`, http.StatusBadRequest, sdk.CodeBadRequest, "users.0")
	})
}

// TestAudienceUsers_NamesAHundred does not say all of what is of no use.
func TestAudienceUsers_NamesAHundred(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformPinterest, func(t *testing.T, n onNetwork) {
		users := people(200)
		for i := range users {
			users[i].FirstName = new("Ada")
			users[i].AdditionalProperties = map[string]json.RawMessage{fmt.Sprintf("field_%03d", i): json.RawMessage("1")}
		}
		result := ok[*sdk.AdAudienceUpload](t)(n.upload(n.audience(t, "Many").ID, users))
		assert.EqualValues(t, 200, result.Accepted)
		require.Len(t, result.Ignored, 101)
		assert.Equal(t, "first_name", result.Ignored[0])
		assert.Equal(t, "field_000", result.Ignored[1])
		assert.Equal(t, "field_099", result.Ignored[100])
		stored := strings.Join(n.server.Strings(t, `SELECT after_state FROM ad_actions WHERE op = 'upload_audience_users'`), " ")
		assert.Contains(t, stored, "first_name", "the audit trail")
		assert.NotContains(t, stored, "field_", "the audit trail")
	})
}

// reason is the code of a refusal and the field that it is about.
func reason(t *testing.T, r *harness.Response) string {
	t.Helper()
	f, err := harness.ParseFault(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return f.Code + " " + f.Param
}

// TestCreateAd_BoundsOtherFields sends as much as there may be, and more.
func TestCreateAd_BoundsOtherFields(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		many := map[string]any{}
		for i := range 50 {
			many[strings.Repeat("S", i)+"tatus"] = i
		}
		many["Headline"] = many["tatus"]
		delete(many, "tatus")
		created := n.raw.Do(t, http.MethodPost, "/v1/ads", n.with(t, "Many", many))
		accountsFor(t, objectOf(t, created.Body), many)
		if created.Status != http.StatusCreated {
			t.Errorf("fifty answer %d %.300s", created.Status, created.Body)
		}
		many["one_more"] = nil
		long := strings.Repeat("n", 17<<10)
		for _, extra := range []map[string]any{many, {long: 1}, {"n": long}} {
			refused := n.raw.Do(t, http.MethodPost, "/v1/ads", n.with(t, "Too much", extra))
			f := refused.Fault(t, http.StatusUnprocessableEntity, sdk.CodeValidationFailed)
			assert.Contains(t, f.Message, "at most 50")
			assert.LessOrEqual(t, len(refused.Body), 3000)
		}
	})
}
