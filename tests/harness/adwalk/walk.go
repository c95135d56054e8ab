// Package adwalk holds GET /ads/capabilities to its word. It asks a network for everything that it is said to be able to do, which must succeed. It
// also asks for what it is said not to do, which must be refused by the name of the field. The network may be the sandbox's or the fake of a real
// one.
package adwalk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// World is a channel whose network is walked through, with what there is on it.
type World struct {
	*sdk.Client
	Channel   string
	AdAccount string // paid in dollars
	Can       sdk.AdCapability
	Image     string // address of a picture
	Video     string // of a video that can be fetched
	Post      string // that is published and shows a video
	Picture   string // another one, that shows none
	Pixel     string // of the ad account

	home string // an ad group
}

var background = context.Background()

// Walk asks for everything.
func (w *World) Walk(t *testing.T) {
	t.Helper()
	for name, part := range map[string]func(*testing.T){
		"goals": w.goals, "budgets": w.budgets, "bids": w.bids, "creatives": w.creatives, "media": w.media, "cards": w.cards, "targeting": w.targeting,
		"places": w.places, "people": w.people, "laws": w.laws, "searches": w.searches, "audiences": w.audiences, "lookalikes": w.lookalikes,
		"figures": w.figures, "switches": w.switches, "centers": w.centers,
	} {
		t.Run(name, part)
	}
}

// object is a part of a body. A nil takes away what is usual.
type object = map[string]any

// draft is an ad that can be made, with some changes.
func (w *World) draft(changes ...object) *sdk.AdCreate {
	body := object{
		"account_id": w.Channel, "ad_account_id": w.AdAccount, "name": "Walk", "goal": "traffic", "budget_amount": 100, "budget_type": "daily", "status": "paused",
		"headline": "Headline", "body": "Body", "link_url": "https://shop.example/offer", "countries": []string{"US"},
	}
	if len(w.Can.CallToActions) > 0 {
		body["call_to_action"] = w.Can.CallToActions[0]
	}
	maps.Copy(body, w.shows(w.Can.Media.Kinds[0]))
	for _, change := range changes {
		maps.Copy(body, change)
	}
	draft := &sdk.AdCreate{}
	into(body, draft)
	return draft
}

// into turns a body into the type of the SDK that it is of.
func into(body object, as any) {
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, as)
	}
	if err != nil {
		panic(err)
	}
}

// make creates an ad.
func (w *World) make(changes ...object) error {
	_, err := w.create(changes...)
	return err
}

// create creates an ad. A network that is not through with its video is asked again with the same key, as the API says.
func (w *World) create(changes ...object) (*sdk.Ad, error) {
	draft, key := w.draft(changes...), sdk.WithIdempotencyKey(rand.Text())
	for begun := time.Now(); ; {
		ad, err := w.Ads.Create(background, draft, key)
		e, refused := errors.AsType[*sdk.Error](err)
		if !refused || e.Code != sdk.CodeMediaProcessing || time.Since(begun) > harness.Patience {
			return ad, err
		}
		time.Sleep(e.RetryAfter)
	}
}

// made creates an ad that can be made.
func (w *World) made(t *testing.T, changes ...object) *sdk.Ad {
	t.Helper()
	ad, err := w.create(changes...)
	if err != nil {
		t.Fatalf("%s: an ad with %v is not made: %s", w.Can.Platform, changes, said(err))
	}
	return ad
}

// is expects what was asked for to succeed if the network is said to be able to. Else it expects a refusal by the name of the field.
func (w *World) is(t *testing.T, can bool, field, what string, err error) {
	t.Helper()
	if can {
		w.yes(t, what, err)
	} else {
		w.no(t, field, what, err)
	}
}

func (w *World) yes(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s is said to have %s: %s", w.Can.Platform, what, said(err))
	}
}

func (w *World) no(t *testing.T, field, what string, err error) {
	t.Helper()
	var e *sdk.Error
	require.ErrorAs(t, err, &e, "%s is not said to have %s: a 422", w.Can.Platform, what)
	assert.Equal(t, http.StatusUnprocessableEntity, e.Status, "%s is not said to have %s: a 422", w.Can.Platform, what)
	assert.NotEmpty(t, e.Errors[field], "%s is not said to have %s: a 422", w.Can.Platform, what)
}

func said(err error) string {
	var e *sdk.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%d %s %s %v", e.Status, e.Code, e.Message, e.Errors)
	}
	return fmt.Sprint(err)
}

// words are those of an enumeration of the specification.
func words(schema string) []string {
	var document struct {
		Components struct {
			Schemas map[string]struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(spec.JSON, &document); err != nil {
		panic(err)
	}
	all := document.Components.Schemas[schema].Enum
	if len(all) == 0 {
		panic("the specification has no enumeration " + schema)
	}
	return all
}

// has reports whether a word is among those of a type of the SDK.
func has[T ~string](among []T, word string) bool { return slices.Contains(among, T(word)) }

// textOf returns so many characters.
func textOf(characters int64) string { return strings.Repeat("x", int(characters)) }
