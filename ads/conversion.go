package ads

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

// Pixel is what counts for a network what people do on a site: a pixel of Meta's, a tag of Pinterest's.
type Pixel struct {
	ID   string // the network's
	Name string
}

// ConversionBatch is what happened, to be told to one pixel.
type ConversionBatch struct {
	AdAccount string // platform id
	PixelID   string
	Token     Secret                   // the pixel's own, for networks that ask for one; empty = the channel's
	Events    []advert.ConversionEvent // at most Caps.Conversions.PerCall, none older than Caps.Conversions.MaxAge
}

// ConversionRules say which conversions a network is told of, and how. The zero value is a network that is told of none.
type ConversionRules struct {
	Words       map[advert.ConversionKind]string // the network's word for each kind that it knows
	PerCall     int                              // most events in one call
	MaxAge      time.Duration                    // an older event makes the network refuse all that come with it
	Dedupe      time.Duration                    // for how long an event that is told again counts once
	OffsiteOnce bool                             // an event that did not happen on a page counts each time that it is told
	OwnToken    bool                             // a pixel has an access of its own
	ClickID     string                           // the parameter that the network appends to the address of an ad
	Phone       PhoneForm
}

// Pixels implements Network.
func (o outside) Pixels(ctx context.Context, c Conn, adAccount string) ([]Pixel, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Pixels(ctx, c, adAccount)
}

// SendConversions implements Network.
func (o outside) SendConversions(ctx context.Context, c Conn, b ConversionBatch) ([]error, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.SendConversions(ctx, c, b)
}
