package billing_test

import (
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// moves are what players do, the frequent things more than once.
var moves = []struct {
	name  string
	often int
	do    func(*player) error
}{
	{"a checkout is begun", 6, (*player).putIntoCheckout},
	{"a checkout is confirmed", 9, (*player).confirm},
	{"a checkout is changed", 2, (*player).changeCheckout},
	{"a checkout is expired", 1, (*player).expire},
	{"a buyer is asked about ads", 3, (*player).askAds},
	{"somebody vouches for a buyer", 1, (*player).vouch},
	{"a buyer consents", 3, (*player).consent},
	{"a buyer backs out", 2, (*player).backOut},
	{"a product is offered", 2, (*player).offer},
	{"a product is revised", 1, (*player).revise},
	{"a discount is made", 2, (*player).reduce},
	{"a discount is reconsidered", 1, (*player).reconsider},
	{"a link is published", 1, (*player).publish},
	{"a link is followed", 2, (*player).follow},
	{"a customer is welcomed", 1, (*player).welcome},
	{"a customer is attended to", 2, (*player).attend},
	{"a customer is merged", 1, (*player).unite},
	{"a customer is on the portal", 4, (*player).visit},
	{"a card is saved", 2, (*player).saveCard},
	{"the settings are changed", 1, (*player).settings},
	{"the account is disabled", 1, (*player).disable},
	{"the account is enabled", 5, (*player).enable},
	{"an invoice is drafted", 2, (*player).draft},
	{"an invoice is issued", 3, (*player).issue},
	{"an invoice is paid", 4, (*player).payInvoice},
	{"an invoice is given up", 2, (*player).giveUp},
	{"money is given back", 5, (*player).giveBack},
	{"a balance is changed by hand", 3, (*player).changeBalance},
	{"a refund is turned", 2, (*player).turnRefund},
	{"a refund bounces", 2, (*player).bounce},
	{"a subscription is begun", 3, (*player).subscribe},
	{"a subscription is changed", 6, (*player).change},
	{"a subscription is adjusted", 3, (*player).adjust},
	{"a subscription is discounted", 5, (*player).thank},
	{"a subscription is stopped", 3, (*player).stop},
	{"a period ends", 2, (*player).renew},
	{"a product delivers something else", 1, (*player).deliver},
	{"the seller decides about a grant", 2, (*player).decide},
	{"licence keys are imported", 2, (*player).importKeys},
	{"a licence key is used", 4, (*player).useKey},
	{"a licence key is managed", 3, (*player).manageKey},
	{"a lead is captured", 3, (*player).leave},
	{"a lead is judged", 1, (*player).judge},
	{"a lead buys", 2, (*player).comeBack},
	{"everything is exported", 1, (*player).export},
	{"time passes", 5, (*player).advance},
	{"a client asks again", 3, (*player).again},
	{"the server looks around", 2, (*player).turn},
	{"the line is cut", 1, (*player).sever},
	{"the line is mended", 8, (*player).mend},
}

// between is how many moves there are between two looks at everything.
const between = 16

// ends is the last look: with the line up, nothing is under way.
func (h *history) ends() error {
	if err := h.heal(); err != nil {
		return err
	}
	for _, s := range h.shops {
		if err := h.served(s); err != nil {
			return err
		}
		if h.crowded {
			continue
		}
		if err := h.booked(s); err != nil {
			return err
		}
	}
	return h.sound()
}

// Whatever happens in whatever order, every promise about money and what it buys holds, and the bank has what the orders say. A history
// that breaks one is cut down to what it takes. -rapid.checks and -rapid.steps make more and longer ones, and so does
// TILLWRIGHT_SOAK.
func TestHistories_KeepEveryPromiseAboutMoney(t *testing.T) {
	t.Parallel()
	set := map[string]string{"rapid.checks": "5", "rapid.steps": "200", "rapid.shrinktime": "3m"}
	if os.Getenv("TILLWRIGHT_SOAK") != "" {
		set["rapid.checks"] = "200"
	}
	if seed := os.Getenv("TILLWRIGHT_TEST_SEED"); seed != "" {
		set["rapid.seed"] = seed
	}
	flag.Visit(func(f *flag.Flag) { delete(set, f.Name) })
	for name, value := range set {
		require.NoError(t, flag.Set(name, value))
	}
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			began, steps := time.Now(), 0
			rapid.Check(t, func(r *rapid.T) { steps += play(t, r, engine) })
			t.Logf("%d moves in %s", steps, time.Since(began))
		})
	}
}

// play plays one history, and returns how many moves it had.
func play(t testing.TB, r *rapid.T, engine string) (played int) {
	s := &stage{TB: t}
	defer s.clear()
	h := newHistory(s, engine, 2)
	p := &player{history: h, say: r.Logf, roll: func(n int) int { return fair(n).Draw(r, "roll") }}
	sure := func(err error) {
		if err != nil {
			r.Log(err)
			r.Fatal(ids.ReplaceAllString(err.Error(), "$1…"))
		}
	}
	sure(h.stock(p))
	r.Repeat(map[string]func(*rapid.T){"": func(*rapid.T) {}, "move": func(*rapid.T) {
		err := p.move()
		if errors.Is(err, errIdle) {
			return
		}
		sure(err)
		if played++; played%between == 0 {
			sure(h.sound())
		}
	}})
	sure(h.ends())
	return played
}

// chances plays a history that the seed decides, of moves of a deck, and returns how it ended.
func chances(say func(string, ...any), h *history, seed uint64, length int, deck []func(*player) error) error {
	p := &player{history: h, say: say, roll: rand.New(rand.NewPCG(seed, 0)).IntN, deck: deck}
	for i := range length {
		if err := p.move(); err != nil && !errors.Is(err, errIdle) {
			return err
		}
		if i%between == 0 {
			if err := h.sound(); err != nil {
				return err
			}
		}
	}
	return h.ends()
}

// quiet logs nothing.
func quiet(string, ...any) {}

// ofLife says how often what moves money over a subscription's life happens in histories that are about that.
var ofLife = map[string]int{
	"a subscription is begun": 6, "a subscription is changed": 14, "a subscription is adjusted": 9, "a subscription is discounted": 4,
	"a subscription is stopped": 4, "a period ends": 8, "time passes": 2, "money is given back": 6, "a refund is turned": 1,
	"an invoice is given up": 4, "an invoice is paid": 2, "a product is offered": 3, "a discount is made": 2, "a checkout is begun": 2,
	"a checkout is confirmed": 3, "somebody vouches for a buyer": 1, "a buyer consents": 2, "a card is saved": 1, "a customer is attended to": 1,
	"a customer is merged": 1, "a customer is on the portal": 3, "the settings are changed": 3, "the server looks around": 1,
}

// Whatever is done to subscriptions, each is billed, credited and given back what the rules say.
func TestHistories_KeepEveryPromiseOverASubscriptionsLife(t *testing.T) {
	t.Parallel()
	histories := 2
	if os.Getenv("TILLWRIGHT_SOAK") != "" {
		histories = 100
	}
	first := rand.Uint64()
	if given, err := strconv.ParseUint(os.Getenv("TILLWRIGHT_TEST_SEED"), 10, 64); err == nil {
		first = given
	}
	life := deckOf(func(name string, _ int) int { return ofLife[name] })
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			for seed := first; seed < first+uint64(histories); seed++ {
				s := &stage{TB: t}
				var log []string
				say := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
				h := newHistory(s, engine, 1)
				require.NoError(t, h.stock(&player{history: h}))
				err := chances(say, h, seed, 200, life)
				s.clear()
				require.NoError(t, err, "TILLWRIGHT_TEST_SEED=%d\n%s", seed, strings.Join(log, "\n"))
			}
		})
	}
}

// faults are mistakes that somebody could make, and what finds each of them.
var faults = map[string]struct {
	found string
	plant func(t *testing.T, h *history)
}{
	"silence is taken for a decline": {"a charge went through exactly if its payment did", func(_ *testing.T, h *history) {
		h.bank.timeoutsDecline = true
		h.bank.sever(cutComing, 3) // soon
	}},
	"stock is not given back": {"what a price variant holds is being paid or tried, or a change waits for it", func(t *testing.T, h *history) {
		h.sabotage(t, "price_variants", "reserved_count", "NEW.reserved_count < OLD.reserved_count AND NEW.sold_count = OLD.sold_count")
	}},
	"a discount holds too early": {"the period of", func(t *testing.T, h *history) {
		h.sabotage(t, "subscriptions", "discount_waits", "NEW.discount_waits IS NOT NULL AND OLD.discount_waits IS NULL")
	}},
	"a visit is kept for ever": {"a visit is kept while its buyer agrees", func(t *testing.T, h *history) {
		h.sabotage(t, "checkouts", "ads_visit", "NEW.status = 'completed' AND OLD.ads_visit IS NOT NULL")
	}},
	"a sale is not told of": {"no ad network is told of", func(t *testing.T, h *history) {
		_, err := h.rows.Exec(`UPDATE ad_conversion_destinations SET status = 'paused'`)
		require.NoError(t, err)
	}},
	"a change of plan leaves what was given": {"a subscription gives its product", func(t *testing.T, h *history) {
		h.sabotage(t, "grants", "quantity", "NEW.quantity <> OLD.quantity")
	}},
	"a merge leaves the licence keys": {"a licence key is of its grant's product and customer", func(t *testing.T, h *history) {
		h.sabotage(t, "license_keys", "customer_id", "NEW.customer_id <> OLD.customer_id")
	}},
	"a bounced refund shuts out": {"what a refund took away is revoked while such a refund stands", func(t *testing.T, h *history) {
		h.sabotage(t, "grants", "refunded", "OLD.refunded AND NOT NEW.refunded")
	}},
	"a place is not counted": {"a licence key counts its activations", func(t *testing.T, h *history) {
		h.sabotage(t, "license_keys", "activations_count", "NEW.activations_count > OLD.activations_count")
	}},
	"a refund forgets a grant": {"what an order gave is revoked exactly if a refund takes it away", func(t *testing.T, h *history) {
		h.sabotage(t, "grants", "status, reason, refunded, revoked_at", "NEW.source_type = 'order' AND NEW.reason = 'refund' AND OLD.status <> 'revoked'")
	}},
	"a sale forgets its leads": {"what became of the leads", func(t *testing.T, h *history) {
		h.sabotage(t, "leads", "status, converted_at, converted_order_id", "NEW.status = 'converted' AND OLD.status <> 'converted'")
	}},
	"a conversion is half noted": {"a lead is converted by a paid order alone", func(t *testing.T, h *history) {
		h.sabotage(t, "leads", "status", "NEW.status = 'converted'")
	}},
	"credit is not booked": {"a balance is the sum of what changed it", func(t *testing.T, h *history) { h.sabotage(t, "customers", "balance", "OLD.balance = OLD.balance") }},
}

// moreOf are the moves that a fault needs. Its histories have them ten times as often, so that it is found in the first or second of
// them.
var moreOf = map[string][]string{
	"silence is taken for a decline": {"the line is cut", "a checkout is begun", "a checkout is confirmed"},
	"a discount holds too early":     {"a subscription is begun", "a subscription is discounted"},
	"a visit is kept for ever":       {"a checkout is begun", "a buyer is asked about ads", "a checkout is confirmed"},
	"a bounced refund shuts out":     {"money is given back", "a refund bounces"},
	"a refund forgets a grant":       {"money is given back"},
}

// sabotage keeps columns as they are whenever one of them changes under a condition.
func (h *history) sabotage(t *testing.T, table, columns, when string) {
	var back, keep []string
	for column := range strings.SplitSeq(columns, ", ") {
		back, keep = append(back, column+" = OLD."+column), append(keep, fmt.Sprintf("NEW.%[1]s := OLD.%[1]s;", column))
	}
	statements := []string{fmt.Sprintf(`CREATE TRIGGER sabotage AFTER UPDATE OF %[2]s ON %[1]s WHEN %[3]s BEGIN
		UPDATE %[1]s SET %[4]s WHERE account_id = OLD.account_id AND id = OLD.id; END`, table, columns, when, strings.Join(back, ", "))}
	if h.Engine() == core.PostgreSQL {
		statements = []string{
			fmt.Sprintf(`CREATE FUNCTION sabotage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN %s RETURN NEW; END $$`, strings.Join(keep, " ")),
			fmt.Sprintf(`CREATE TRIGGER sabotage BEFORE UPDATE ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION sabotage()`, table, when),
		}
	}
	for _, statement := range statements {
		_, err := h.rows.Exec(statement)
		require.NoError(t, err)
	}
}

// A check that finds nothing may be blind: it has to see what is planted.
func TestHistories_FindWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		planted := deckOf(func(move string, usually int) int {
			if slices.Contains(moreOf[name], move) {
				return 10 * usually
			}
			return usually
		})
		for _, engine := range database.Engines() {
			t.Run(name+"/"+engine, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(20) {
					s := &stage{TB: t}
					h := newHistory(s, engine, 1)
					require.NoError(t, h.stock(&player{history: h}))
					fault.plant(t, h)
					err := chances(quiet, h, seed, 150, planted)
					s.clear()
					if err != nil {
						require.ErrorContains(t, err, fault.found)
						t.Logf("seed %d finds it", seed)
						return
					}
				}
				t.Fatal("twenty histories did not find it")
			})
		}
	}
}

// Everybody acts at once. Nothing can be cut down then, and nothing is looked up twice, but every promise holds in the end.
func TestHistories_HoldWhenEverybodyActsAtOnce(t *testing.T) {
	t.Parallel()
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, engine, 2)
			h.crowded = true
			require.NoError(t, h.stock(&player{history: h}))
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			for _, err := range parallel(4, func(i int) error {
				p := &player{history: h, say: func(string, ...any) {}, roll: rand.New(rand.NewPCG(seed, uint64(i))).IntN}
				for range 120 {
					if err := p.move(); err != nil && !errors.Is(err, errIdle) && !isRefusal(err) { // what was looked up may be gone
						return err
					}
				}
				return nil
			}) {
				require.NoError(t, err)
			}
			require.NoError(t, h.ends())
		})
	}
}

// ids are different in every run. A failure that is cut down says the same each time.
var ids = regexp.MustCompile(`([a-z]+_)[0-9a-z]{26}`)

// fair rolls 0 to n-1, each as often as the others: what rapid has for it prefers what is small.
func fair(n int) *rapid.Generator[int] {
	return rapid.Custom(func(r *rapid.T) int {
		rolled := 0
		for range bits.Len(uint(n-1)) + 2 {
			rolled *= 2
			if rapid.Bool().Draw(r, "bit") {
				rolled++
			}
		}
		return rolled % n
	})
}

// move does one thing in one of the shops.
func (p *player) move() error {
	p.passes(time.Second)
	p.shop = pick(p, p.shops)
	all := deck
	if p.deck != nil {
		all = p.deck
	}
	for range 8 {
		err := pick(p, all)(p)
		if errors.Is(err, errIdle) {
			continue
		}
		for _, s := range p.shops {
			if err == nil && !p.crowded {
				err = p.booked(s)
			}
		}
		return err
	}
	return errIdle
}

// deck has every move as often as it is done.
var deck = deckOf(func(_ string, often int) int { return often })

// deckOf has moves by name as often as it is said.
func deckOf(often func(name string, usually int) int) (deck []func(*player) error) {
	for _, m := range moves {
		for range often(m.name, m.often) {
			deck = append(deck, m.do)
		}
	}
	return deck
}
