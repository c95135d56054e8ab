package sdk

import (
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/sdk/wire"
)

// List is a page of a list. All walks over the pages.
type List[T any] = wire.List[T]

// CursorList is a page of a list of ads. All walks over the pages.
type CursorList[T any] = wire.CursorList[T]

// AdCampaignRef names a campaign by the network's id. Platform is needed only if two networks gave the same id.
type AdCampaignRef = wire.AdCampaignRef

// Expandable is a reference to another resource. It always has its ID. Get returns the resource, if the call asked for it with
// Expand and it was not deleted since.
type Expandable[T any] = wire.Expandable[T]

// PaymentMethod says how a checkout is paid: with a token, or with a card of the test provider.
type PaymentMethod = wire.PaymentMethod

// Card is a card with its number in plain text. Only the test provider takes one.
type Card = wire.Card

// Time is a timestamp as it is in JSON. Its Time method returns the moment.
type Time = wire.Time

// TimeOf returns t as the API reads and writes it.
func TimeOf(t time.Time) Time { return wire.TimeOf(t) }

// Set gives a field of an update a value. A field that you do not set stays as it is; Null clears it.
func Set[T any](value T) nullable.Nullable[T] { return nullable.NewNullableWithValue(value) }

// Null clears a field of an update: sdk.ProductUpdate{Headline: sdk.Null[string]()}.
func Null[T any]() nullable.Nullable[T] { return nullable.NewNullNullable[T]() }
