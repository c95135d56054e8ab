package meta_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// parts use all of the driver in every way in which it speaks to the network, each in a world of its own, and return
// the first thing that is not as it should be.
var parts = []func(*testing.T, *world) error{reading, creating, joining, bidding, steering, reporting, gathering, finding}

func expect(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func reading(t *testing.T, w *world) error {
	accounts, err := w.net.AdAccounts(t.Context(), w.conn)
	if err != nil {
		return err
	}
	if err := expect(len(accounts) == 4 && accounts[3].MinimumDailyBudget > 0, "accounts %v", accounts); err != nil {
		return err
	}
	posts, err := w.net.Posts(t.Context(), w.conn)
	if err != nil {
		return err
	}
	return expect(len(posts) == 1 && posts[0].Text != "" && posts[0].PublishedAt != nil, "posts %v", posts)
}

// creating makes an ad of each goal, in each way to pay for it, and of a post.
func creating(t *testing.T, w *world) error {
	plans := []ads.Plan{
		plan(func(p *ads.Plan) { p.StartsAt, p.EndsAt = at(1), at(8) }),
		plan(func(p *ads.Plan) {
			p.BudgetLevel, p.BidStrategy = advert.BudgetLevelCampaign, advert.BidStrategyLowestCost
		}),
		plan(func(p *ads.Plan) { p.BudgetType, p.EndsAt = advert.BudgetTypeLifetime, at(8) }),
		plan(func(p *ads.Plan) {
			p.BudgetLevel, p.BudgetType, p.EndsAt = advert.BudgetLevelCampaign, advert.BudgetTypeLifetime, at(8)
		}),
		plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalLeadGeneration, `{"lead_gen_form_id":"1"}` }),
		plan(func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalConversions, `{"pixel_id":"1"}` }),
		plan(func(p *ads.Plan) {
			p.Goal, p.PromotedObject = advert.GoalAppPromotion, `{"application_id":"1","object_store_url":"https://apps.example/1"}`
			p.BudgetAmount = 90 * advert.AmountUnit
		}),
		plan(func(p *ads.Plan) {
			p.Goal, p.PromotedObject = advert.GoalCatalogSales, `{"product_set_id":"1","product_catalog_id":"2"}`
		}),
		plan(func(p *ads.Plan) { p.Goal = advert.GoalAwareness }),
		plan(func(p *ads.Plan) { p.Goal, p.Post = advert.GoalEngagement, postOf(w.conn.Platform) }),
	}
	for i, p := range plans {
		p.Token = fmt.Sprint("adact_", i)
		if _, err := w.net.Create(t.Context(), w.conn, p); err != nil {
			return err
		}
	}
	return expect(len(w.fake.Live("Ad")) == len(plans), "ads")
}

// joining adds an ad to a group, and has one that is refused cleaned up.
func joining(t *testing.T, w *world) error {
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	before := len(w.fake.Live("Campaign"))
	if _, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.CampaignID, p.AdGroupID = made.Campaign.PlatformID, made.Group.PlatformID })); err != nil {
		return err
	}
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: "ads"})
	_, err = w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.Token = "adact_refused" }))
	w.fake.Heal()
	return expect(err != nil && len(w.fake.Live("Campaign")) == before, "after a refusal")
}

// bidding uses each strategy on both levels and changes it.
func bidding(t *testing.T, w *world) error {
	for _, level := range []advert.BudgetLevel{advert.BudgetLevelCampaign, advert.BudgetLevelGroup} {
		for _, strategy := range []advert.BidStrategy{advert.BidStrategyCostCap, advert.BidStrategyMinROAS} {
			p := plan(func(p *ads.Plan) { p.BudgetLevel, p.BidStrategy, p.BidAmount = level, strategy, 2*advert.AmountUnit })
			change := ads.Patch{Currency: "usd", BidStrategy: &p.BidStrategy, BidAmount: &p.BidAmount, EndsAt: at(9), Budget: &ads.Budget{Amount: 30 * advert.AmountUnit, Type: advert.BudgetTypeDaily}}
			if strategy == advert.BidStrategyMinROAS {
				valued(&p)
				change.BidAmount, change.RoasFloor = nil, &p.RoasFloor
			}
			if err := bid(t, w, p, change); err != nil {
				return err
			}
		}
	}
	return nil
}

func bid(t *testing.T, w *world, p ads.Plan, change ads.Patch) error {
	made, err := w.net.Create(t.Context(), w.conn, p)
	if err != nil {
		return err
	}
	target := groupRef(made)
	if p.BudgetLevel == advert.BudgetLevelCampaign {
		target = ref(made)
	}
	e, err := w.net.Update(t.Context(), w.conn, target, change)
	if err != nil {
		return err
	}
	b := e.Batch()
	for _, c := range b.Campaigns {
		err = expect(c.BudgetAmount == 30*advert.AmountUnit && c.BidStrategy == p.BidStrategy, "campaign %v", c)
	}
	for _, g := range b.Groups {
		err = expect(g.BudgetAmount == 30*advert.AmountUnit && g.EndsAt != nil && g.BidAmount == p.BidAmount && g.RoasFloor == p.RoasFloor, "group %v", g)
	}
	return err
}

// steering turns switches on each level and deletes.
func steering(t *testing.T, w *world) error {
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	for level, id := range map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		refs := []ads.Ref{{AdAccount: dollars, Level: level, ID: id}}
		for _, to := range []advert.Configured{advert.ConfiguredPaused, advert.ConfiguredActive} {
			results, err := w.net.SetStatus(t.Context(), w.conn, refs, to)
			if err != nil {
				return err
			}
			if err := expect(results[0].Err == nil && results[0].Updated == 1 && len(results[0].State.Ads) == 1, "switch of %s: %v", level, results[0].Err); err != nil {
				return err
			}
		}
	}
	deleted, err := w.net.Delete(t.Context(), w.conn, ref(made))
	if err != nil {
		return err
	}
	return expect(deleted == ads.Deleted{AdGroups: 1, Ads: 1}, "deleted %v", deleted)
}

// reporting walks through a few pages and asks for the figures of each level.
func reporting(t *testing.T, w *world) error {
	for i := range 105 { // campaigns alone, to make a second page cheaply
		w.fake.AddExternal("Campaign", map[string]any{"account_id": dollars[len("act_"):], "name": fmt.Sprint(i), "objective": "REACH", "status": "PAUSED"})
	}
	made, err := w.net.Create(t.Context(), w.conn, plan(nil))
	if err != nil {
		return err
	}
	w.deliver(made.Ad.PlatformID)
	seen := 0
	for cursor, rounds := "", 0; rounds == 0 || cursor != ""; rounds++ {
		var b advert.Batch
		if b, cursor, err = w.net.Sync(t.Context(), w.conn, dollars, cursor); err != nil {
			return err
		}
		seen += len(b.Campaigns)
	}
	if err := expect(seen == len(w.fake.Live("Campaign")), "%d campaigns", seen); err != nil {
		return err
	}
	for level, id := range map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		reports, err := w.net.Report(t.Context(), w.conn, dollars, level, []string{id}, date(11, 1), date(11, 2))
		if err != nil {
			return err
		}
		if err := expect(reports[id].Metrics.Spend == 15_050_000 && reports[id].Status == advert.StatusActive, "report of %s", level); err != nil {
			return err
		}
	}
	return nil
}

// gathering makes audiences and fills one.
func gathering(t *testing.T, w *world) error {
	source := ""
	for _, kind := range []advert.AudienceType{advert.AudienceTypeCustomerList, advert.AudienceTypeRetargeting, advert.AudienceTypeLookalike} {
		a, err := w.net.CreateAudience(t.Context(), w.conn, audiencePlan(kind, source))
		if err != nil {
			return err
		}
		if source == "" {
			source = *a.PlatformID
			if _, err := w.net.UploadUsers(t.Context(), w.conn, ads.Upload{Audience: a, Members: []advert.Member{member(advert.IdentifierEmail, 1), member(advert.IdentifierPhone, 1)}}); err != nil {
				return err
			}
		}
		if _, err := w.net.Audience(t.Context(), w.conn, dollars, *a.PlatformID); err != nil {
			return err
		}
	}
	if err := expect(w.fake.Members(source) == 2, "members"); err != nil {
		return err
	}
	return w.net.DeleteAudience(t.Context(), w.conn, dollars, source)
}

func finding(t *testing.T, w *world) error {
	p := plan(func(p *ads.Plan) { p.Token = "adact_lost" })
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultCutAfter, Method: "POST", Edge: "ads"})
	_, err := w.net.Create(t.Context(), w.conn, p)
	w.fake.Heal()
	if err := expect(err != nil, "the connection was cut"); err != nil {
		return err
	}
	made, found, err := w.net.Find(t.Context(), w.conn, dollars, p.Token)
	if err != nil {
		return err
	}
	return expect(found && made.Campaign != nil && made.Group != nil && made.Ad != nil, "found %v", found)
}

func TestDriver_GoesThroughEverything(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		for _, part := range parts {
			w := newWorld(t, p)
			require.NoError(t, part(t, w))
			for _, c := range w.fake.Calls() {
				if c.Refused != nil {
					assert.Contains(t, c.Refused.User, "Advertising Standards", "%s %s %v", c.Method, c.Path, c.Params)
				}
			}
		}
	}
}

// spot is a name on the wire: a parameter of a call, a key in the JSON of one, or a field that is asked for.
type spot struct{ node, method, edge, path string }

func (s spot) String() string { return strings.Join([]string{s.node, s.method, s.edge, s.path}, " ") }

// spots are all names that a run sends.
func spots(calls []metafake.Call) []spot {
	found := map[spot]bool{}
	for _, c := range calls {
		for name, values := range c.Params {
			s := spot{c.Node, c.Method, c.Edge, name}
			found[s] = true
			for _, path := range inside(name, values[0]) {
				found[spot{c.Node, c.Method, c.Edge, path}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b spot) int { return strings.Compare(a.String(), b.String()) })
}

// inside lists the paths of the keys in a value. Fields are keys, too; ids that are keys are not names.
func inside(name, text string) []string {
	var paths []string
	if name == "fields" {
		for i := range fieldNames(text) {
			paths = append(paths, "fields#"+strconv.Itoa(i))
		}
		return paths
	}
	var value any
	if json.Unmarshal([]byte(text), &value) == nil {
		_ = rename(value, name, func(path string) bool {
			paths = append(paths, path)
			return false
		})
	}
	return paths
}

// fieldNames are where the names in a field expansion begin and end.
func fieldNames(text string) [][2]int {
	var names [][2]int
	start := 0
	for i := range len(text) + 1 {
		if i == len(text) || strings.ContainsRune(",{}", rune(text[i])) {
			if i > start {
				names = append(names, [2]int{start, i})
			}
			start = i + 1
		}
	}
	return names
}

// rename misspells the keys that `hit` wants.
func rename(value any, path string, hit func(string) bool) any {
	switch v := value.(type) {
	case map[string]any:
		renamed := map[string]any{}
		for key, inner := range v {
			at := path + "." + key
			if unicodeDigits(key) {
				at = path + ".<id>"
			}
			inner = rename(inner, at, hit)
			if hit(at) {
				key += "x"
			}
			renamed[key] = inner
		}
		return renamed
	case []any:
		for i := range v {
			v[i] = rename(v[i], path, hit)
		}
	}
	return value
}

func unicodeDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// misspell changes one name in a request's parameters. It reports whether it was there.
func misspell(params url.Values, path string) bool {
	name, _, _ := strings.Cut(path, ".")
	name, number, isField := strings.Cut(name, "#")
	if !params.Has(name) {
		return false
	}
	text := params.Get(name)
	switch {
	case isField:
		n, _ := strconv.Atoi(number)
		names := fieldNames(text)
		if n >= len(names) {
			return false
		}
		params.Set(name, text[:names[n][1]]+"x"+text[names[n][1]:])
		return true
	case path == name:
		params.Del(name)
		params.Set(name+"x", text)
		return true
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return false
	}
	changed := false
	renamed, err := json.Marshal(rename(value, name, func(at string) bool {
		changed = changed || at == path
		return at == path
	}))
	params.Set(name, string(renamed))
	return changed && err == nil
}

// rewriter changes the parameters of requests of one call on their way.
type rewriter struct {
	fake   *metafake.Fake
	next   http.RoundTripper
	at     spot
	change func(url.Values) bool
	hits   int
}

func (r *rewriter) RoundTrip(h *http.Request) (*http.Response, error) {
	segments := strings.Split(strings.Trim(h.URL.Path, "/"), "/")
	edge := "."
	if len(segments) == 3 {
		edge = segments[2]
	}
	if h.Method != r.at.method || edge != r.at.edge || r.fake.Node(segments[1]) != r.at.node {
		return r.next.RoundTrip(h)
	}
	h = h.Clone(h.Context())
	if h.Method != http.MethodPost {
		params := h.URL.Query()
		if r.change(params) {
			r.hits++
		}
		h.URL.RawQuery = params.Encode()
		return r.next.RoundTrip(h)
	}
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return nil, err
	}
	params, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	if r.change(params) {
		r.hits++
	}
	text := []byte(params.Encode())
	h.Body, h.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	h.GetBody = nil
	return r.next.RoundTrip(h)
}

// mutate runs through a part with one change on the wire and returns how it failed.
func mutate(t *testing.T, p advert.Platform, part func(*testing.T, *world) error, at spot, change func(url.Values) bool) error {
	t.Helper()
	var r *rewriter
	w := worldThrough(t, p, func(f *metafake.Fake, next http.RoundTripper) http.RoundTripper {
		r = &rewriter{fake: f, next: next, at: at, change: change}
		return r
	})
	err := part(t, w)
	require.NotZero(t, r.hits, "%s was not changed", at)
	return err
}

// eachSpot calls try for every name that a platform's parts send, with the first part that does.
func eachSpot(t *testing.T, p advert.Platform, done map[spot]bool, try func(part func(*testing.T, *world) error, at spot, c *metafake.Fake)) {
	t.Helper()
	for _, part := range parts {
		w := newWorld(t, p)
		require.NoError(t, part(t, w))
		for _, at := range spots(w.fake.Calls()) {
			if !done[at] {
				done[at] = true
				try(part, at, w.fake)
			}
		}
	}
}

func TestEveryName_OnTheWireIsCheckedByTheFake(t *testing.T) {
	t.Parallel()
	done := map[spot]bool{}
	for _, p := range platforms {
		eachSpot(t, p, done, func(part func(*testing.T, *world) error, at spot, _ *metafake.Fake) {
			err := mutate(t, p, part, at, func(params url.Values) bool { return misspell(params, at.path) })
			assert.Error(t, err, "%s misspelt on %s goes unnoticed", at, p)
		})
	}
	assert.Greater(t, len(done), 300)
}

func TestEveryCall_IsFineWhenNothingIsChanged(t *testing.T) {
	t.Parallel()
	edges := map[spot]bool{}
	eachSpot(t, advert.PlatformFacebook, map[spot]bool{}, func(part func(*testing.T, *world) error, at spot, _ *metafake.Fake) {
		call := spot{node: at.node, method: at.method, edge: at.edge}
		if !edges[call] {
			edges[call] = true
			assert.NoError(t, mutate(t, advert.PlatformFacebook, part, at, func(url.Values) bool { return true }), call)
		}
	})
	assert.Greater(t, len(edges), 15)
}

func TestEveryWord_OfAnEnumerationIsCheckedByTheFake(t *testing.T) {
	t.Parallel()
	tried := 0
	eachSpot(t, advert.PlatformFacebook, map[spot]bool{}, func(part func(*testing.T, *world) error, at spot, f *metafake.Fake) {
		if !f.IsEnum(metafake.Call{Node: at.node, Method: at.method, Edge: at.edge}, at.path) {
			return
		}
		tried++
		err := mutate(t, advert.PlatformFacebook, part, at, func(params url.Values) bool { return anotherWord(params, at.path) })
		assert.Error(t, err, "%s takes any word", at)
	})
	assert.Greater(t, tried, 15)
}

// anotherWord replaces the value of a parameter by a word that no enumeration has.
func anotherWord(params url.Values, name string) bool {
	word := "NOT_A_WORD"
	if strings.HasPrefix(params.Get(name), "[") {
		word = `["NOT_A_WORD"]`
	}
	if !params.Has(name) {
		return false
	}
	params.Set(name, word)
	return true
}
