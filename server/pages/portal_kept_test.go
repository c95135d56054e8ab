package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// goer is a guest with a subscription that they cancel and keep.
type goer struct {
	*guest
	sub *subscription.Subscription
}

// eachGoer runs a test as a guest with a subscription, on both engines. What they were sent until now has arrived.
func eachGoer(t *testing.T, test func(t *testing.T, g *goer)) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		require.NoError(t, g.mails(mailServer{g.shop}))
		test(t, &goer{g, sub})
	})
}

func (g *goer) cancels() {
	g.t.Helper()
	g.does("/subscriptions/"+g.sub.ID+"/cancel", nil, http.StatusOK)
}

func (g *goer) keeps() {
	g.t.Helper()
	g.does("/subscriptions/"+g.sub.ID+"/uncancel", nil, http.StatusOK)
}

// reads returns what the guest was sent about the end of the subscription, or that it goes on, once no letter waits for another one.
func (g *goer) reads() (told []string) {
	g.t.Helper()
	for range 3 {
		require.NoError(g.t, g.mails(mailServer{g.shop}))
		g.now = g.now.Add(10 * time.Second)
	}
	for _, l := range g.letters {
		switch {
		case strings.HasSuffix(l.Subject, "goes on"):
			told = append(told, "goes on")
		case strings.HasSuffix(l.Subject, "is cancelled"):
			told = append(told, "ends")
		}
	}
	return told
}

// about returns the newest letter of a kind.
func (g *goer) about(kind tenant.LetterKind) store.Letter {
	g.t.Helper()
	letters, _, err := g.ListLetters(g.t.Context(), g.account, store.ListLetters{Page: core.Page{Limit: 1}, Kind: kind})
	require.NoError(g.t, err)
	require.NotEmpty(g.t, letters)
	return letters[0]
}

// stored returns a letter as it is now.
func (g *goer) stored(id string) *store.Letter {
	g.t.Helper()
	l, err := g.GetLetter(g.t.Context(), g.account, id)
	require.NoError(g.t, err)
	return l
}

// claims is a server that begins to send the newest letter of a kind.
func (g *goer) claims(kind tenant.LetterKind) *store.Letter {
	g.t.Helper()
	claimed, err := g.ClaimLetters(g.t.Context(), core.Due{AccountID: g.account, ID: g.about(kind).ID})
	require.NoError(g.t, err)
	require.Len(g.t, claimed, 1)
	return &claimed[0]
}

// told is what a claimed letter tells of.
func (g *goer) told(l *store.Letter) *store.LetterContent {
	g.t.Helper()
	told, err := g.ReadLetter(g.t.Context(), l)
	require.NoError(g.t, err)
	return told
}

// skips is a server that finds out that a letter is not to be sent.
func (g *goer) skips(l *store.Letter) {
	g.t.Helper()
	told := g.told(l)
	require.NotEmpty(g.t, told.Void)
	require.NoError(g.t, g.EndLetter(g.t.Context(), l, store.LetterOutcome{Status: store.LetterStatusSkipped, Error: told.Void}))
}

// Whoever cancels and takes that back before a letter left has no use for two.
func TestPortal_ACancellationThatIsTakenBackAtOnceHasNoLetter(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		for range 2 {
			g.cancels()
			g.keeps()
		}
		assert.Empty(t, g.reads())
		kept := g.about(tenant.LetterSubscriptionKept)
		assert.Equal(t, store.LetterStatusSkipped, kept.Status)
		assert.Contains(t, *kept.LastError, "told of neither")
		g.cancels()
		assert.Equal(t, []string{"ends"}, g.reads())
		g.keeps()
		assert.Equal(t, []string{"ends", "goes on"}, g.reads())
		g.cancels()
		g.keeps()
		assert.Equal(t, []string{"ends", "goes on"}, g.reads(), "what they were told last is true again")
		_, err := g.ResendLetter(t.Context(), g.account, kept.ID)
		require.NoError(t, err)
		assert.Equal(t, []string{"ends", "goes on"}, g.reads(), "there is a newer one")
		_, err = g.ResendLetter(t.Context(), g.account, g.about(tenant.LetterSubscriptionKept).ID)
		require.NoError(t, err)
		assert.Equal(t, []string{"ends", "goes on", "goes on"}, g.reads(), "the seller asks for it")
	})
}

func TestPortal_ACancellationThatIsRepeatedAtOnceHasOneLetter(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		g.cancels()
		g.keeps()
		g.cancels()
		assert.Equal(t, []string{"ends"}, g.reads())
		for range 2 {
			g.keeps()
			g.cancels()
		}
		g.keeps()
		assert.Equal(t, []string{"ends", "goes on"}, g.reads(), "they were told that it ends")
	})
}

// Whoever was told that it ends is told that it goes on, however often they changed their mind in between.
func TestPortal_ManyTurnsDoNotHideWhatWasTold(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		g.cancels()
		require.Equal(t, []string{"ends"}, g.reads())
		for range 26 {
			g.keeps()
			g.cancels()
		}
		g.keeps()
		assert.Equal(t, []string{"ends", "goes on"}, g.reads())
	})
}

// A letter is skipped because there is a newer one, and then that one is not true any more either.
func TestPortal_ARepeatedCancellationMayBeTakenBack(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		g.cancels()
		first := g.claims(tenant.LetterSubscriptionCanceled)
		g.keeps()
		g.cancels()
		g.skips(first)
		assert.Contains(t, *g.stored(first.ID).LastError, "of which there is another letter")
		g.keeps()
		assert.Empty(t, g.reads())
	})
}

// That a letter is asked for again, and is not true any more, does not undo that it was sent.
func TestPortal_ALetterThatWasSentIsFollowed(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		g.cancels()
		assert.Equal(t, []string{"ends"}, g.reads())
		g.keeps()
		_, err := g.ResendLetter(t.Context(), g.account, g.about(tenant.LetterSubscriptionCanceled).ID)
		require.NoError(t, err)
		assert.Equal(t, []string{"ends", "goes on"}, g.reads())
	})
}

// A server that dies while it sends a letter may have sent it.
func TestPortal_ALetterThatMayHaveArrivedIsFollowed(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		g.cancels()
		g.claims(tenant.LetterSubscriptionCanceled) // and dies
		g.keeps()
		assert.Empty(t, g.reads(), "it may live")
		kept := g.about(tenant.LetterSubscriptionKept)
		assert.Equal(t, store.LetterStatusQueued, kept.Status)
		assert.Contains(t, *kept.LastError, "waits until the letter about the cancellation is sent")
		g.now = g.now.Add(time.Minute)
		again := g.claims(tenant.LetterSubscriptionCanceled)
		told := g.told(g.claims(tenant.LetterSubscriptionKept))
		assert.Positive(t, told.Wait)
		assert.True(t, told.WaitsOne, "those of other customers do not wait")
		g.skips(again)
		g.now = g.now.Add(time.Minute)
		assert.Equal(t, []string{"goes on"}, g.reads())
	})
}

// One server sends the letter about a cancellation, another one that the subscription goes on.
func TestPortal_ALetterWaitsForTheOneThatItFollows(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		var want []string
		for _, becomes := range []store.LetterOutcome{{Status: store.LetterStatusSent}, {Status: store.LetterStatusFailed, Error: "421 I am going"}, {}} {
			g.cancels()
			first := g.claims(tenant.LetterSubscriptionCanceled)
			if becomes.Status != "" {
				require.Empty(t, g.told(first).Void, "it reads before that is taken back")
			}
			g.keeps()
			assert.Equal(t, want, g.reads(), "the other one waits")
			if becomes.Status == "" {
				g.skips(first)
			} else {
				require.NoError(t, g.EndLetter(t.Context(), first, becomes))
				want = append(want, "goes on")
			}
			assert.Equal(t, want, g.reads(), becomes)
			g.now = g.now.Add(2 * time.Minute)
			assert.Equal(t, want, g.reads(), "nothing is left over")
		}
	})
}

// Whoever has cancelled is always told if the seller takes that back. The seller's own mind is no news until somebody was told of it.
func TestPortal_WhoIsOverruledIsTold(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		_, err := g.CancelSubscription(t.Context(), g.account, g.sub.ID, store.CancelSubscription{})
		require.NoError(t, err)
		_, err = g.UncancelSubscription(t.Context(), g.account, g.sub.ID)
		require.NoError(t, err)
		assert.Empty(t, g.reads())
		for i, overrules := range []func() error{
			func() error { _, err := g.UncancelSubscription(t.Context(), g.account, g.sub.ID); return err },
			func() error {
				_, err := g.UpdateSubscription(t.Context(), g.account, g.sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, CancelAtPeriodEnd: new(false)})
				return err
			},
		} {
			g.cancels()
			require.NoError(t, overrules())
			assert.Equal(t, slices.Repeat([]string{"goes on"}, i+1), g.reads())
		}
	})
}

// A seller who overrules a customer, and changes their own mind at once, has overruled them all the same.
func TestPortal_WhoIsOverruledIsToldAfterAllTurns(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		g.cancels()
		for range 2 {
			_, err := g.UncancelSubscription(t.Context(), g.account, g.sub.ID)
			require.NoError(t, err)
			_, err = g.CancelSubscription(t.Context(), g.account, g.sub.ID, store.CancelSubscription{})
			require.NoError(t, err)
		}
		_, err := g.UncancelSubscription(t.Context(), g.account, g.sub.ID)
		require.NoError(t, err)
		assert.Equal(t, []string{"goes on"}, g.reads())
	})
}

// A seller who tells of cancellations in another way still has it told that one was taken back.
func TestPortal_ACancellationMayBeToldOfElsewhere(t *testing.T) {
	eachGoer(t, func(t *testing.T, g *goer) {
		_, err := g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) {
			a.SwitchLetters(map[string]bool{"subscription_canceled": false})
		})
		require.NoError(t, err)
		g.cancels()
		assert.Empty(t, g.reads())
		g.keeps()
		assert.Equal(t, []string{"goes on"}, g.reads())
	})
}
