package ads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// CreateConversionDestination is a destination to make, as it was sent. "" means that a field was not sent.
type CreateConversionDestination struct {
	AccountID   string
	AdAccountID string
	PixelID     string
	Name        string // without one it is the pixel's
	Events      []advert.ConversionKind
	ProductIDs  *[]string // nil = all
	Token       Secret
	Status      advert.DestinationStatus
}

// ListPixels returns the pixels of an ad account, as the network has them now, and the network. One that is told of no conversions is
// CodeInvalid on account_id.
func (s *Service) ListPixels(ctx context.Context, account, channel, adAccount string) ([]Pixel, advert.Platform, error) {
	if err := (required{{"account_id", channel}, {"ad_account_id", adAccount}}).err(); err != nil {
		return nil, "", err
	}
	line, err := s.telling(ctx, account, channel)
	if err != nil {
		return nil, "", err
	}
	pixels, err := s.pixels(ctx, line, adAccount)
	return pixels, line.channel.Platform, err
}

// telling returns the line to the network of a channel through which pixels are told of conversions.
func (s *Service) telling(ctx context.Context, account, channel string) (*line, error) {
	line, err := s.activated(ctx, account, channel)
	if err == nil && line.Caps().Conversions.PerCall == 0 {
		err = core.Invalid("account_id", fmt.Sprintf("%s is told of no conversions. Send a channel whose network is: see conversions of GET /ads/capabilities.", line.channel.Platform))
	}
	return line, err
}

// pixels asks a network for the pixels of an ad account. It ends the transaction of a request.
func (s *Service) pixels(ctx context.Context, l *line, adAccount string) ([]Pixel, error) {
	a, err := s.store.GetAccount(ctx, l.channel, adAccount)
	if err != nil {
		return nil, err
	}
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	pixels, err := l.Pixels(ctx, l.conn, a.PlatformID)
	if err != nil {
		return nil, s.fault(ctx, l, "pixels", err)
	}
	return pixels, nil
}

// CreateConversionDestination makes a destination of a pixel, for which the network is asked. A pixel that it does not list is CodeInvalid on
// pixel_id. An event that it has no word for is CodeInvalid on events. A token that it needs, or has no use for, is CodeInvalid on token.
func (s *Service) CreateConversionDestination(ctx context.Context, account string, in CreateConversionDestination) (*advert.ConversionDestination, error) {
	if err := (required{{"account_id", in.AccountID}, {"ad_account_id", in.AdAccountID}, {"pixel_id", in.PixelID}}).err(); err != nil {
		return nil, err
	}
	line, err := s.telling(ctx, account, in.AccountID)
	if err != nil {
		return nil, err
	}
	if err := line.Caps().checkDestination(in.Events, string(in.Token)); err != nil {
		return nil, err
	}
	pixels, err := s.pixels(ctx, line, in.AdAccountID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(pixels, func(p Pixel) bool { return p.ID == in.PixelID })
	if i < 0 {
		return nil, core.Invalid("pixel_id", fmt.Sprintf("%s has no such pixel in this ad account. %s", line.channel.Platform, offered(pixels)))
	}
	if in.Name == "" {
		in.Name = pixels[i].Name
	}
	return s.store.CreateConversionDestination(ctx, account, line.channel, advert.NewConversionDestination{
		AdAccountID: in.AdAccountID, PixelID: in.PixelID, Name: in.Name, Events: inOrder(in.Events), ProductIDs: in.ProductIDs,
		Token: in.Token.Reveal(), Status: in.Status,
	})
}

// maxOffered is how many pixels a message names.
const maxOffered = 20

// offered says which pixels there are.
func offered(pixels []Pixel) string {
	if len(pixels) == 0 {
		return "It has none: make one there first."
	}
	names := make([]string, 0, maxOffered)
	for _, p := range pixels[:min(len(pixels), maxOffered)] {
		names = append(names, fmt.Sprintf("%s (%s)", p.ID, p.Name))
	}
	return "Send one of " + strings.Join(names, ", ") + "."
}

// checkDestination returns CodeInvalid for events and a token that the network does not take.
func (c Caps) checkDestination(events []advert.ConversionKind, token string) error {
	var p core.Problems
	c.checkEvents(&p, events)
	p.Check(token != "" || !c.Conversions.OwnToken, "token",
		fmt.Sprintf("%s takes conversions with a token of their own alone. Make one in its ads manager and send it.", c.Platform))
	c.checkToken(&p, token)
	return p.Err()
}

func (c Caps) checkEvents(p *core.Problems, events []advert.ConversionKind) {
	for _, kind := range events {
		p.Check(c.Conversions.Words[kind] != "", "events", fmt.Sprintf("%s is not told of %s. Send some of %s.", c.Platform, kind, list(c.ConversionKinds())))
	}
}

// inOrder returns each of some events once.
func inOrder(events []advert.ConversionKind) []advert.ConversionKind {
	return slices.DeleteFunc(slices.Clone(advert.ConversionKinds), func(kind advert.ConversionKind) bool { return !slices.Contains(events, kind) })
}

func (c Caps) checkToken(p *core.Problems, token string) {
	p.Check(token == "" || c.Conversions.OwnToken, "token", fmt.Sprintf("%s takes conversions with the access of the channel. Leave the token out.", c.Platform))
}

// ConversionKinds lists what the network can be told of.
func (c Caps) ConversionKinds() []advert.ConversionKind {
	return slices.DeleteFunc(slices.Clone(advert.ConversionKinds), func(kind advert.ConversionKind) bool { return c.Conversions.Words[kind] == "" })
}

// UpdateConversionDestination changes a destination. The errors of its fields are those of CreateConversionDestination. A destination whose
// channel is not activated is CodeNotActivated.
func (s *Service) UpdateConversionDestination(ctx context.Context, account, id string, in advert.UpdateConversionDestination) (*advert.ConversionDestination, error) {
	d, err := s.store.GetConversionDestination(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if in.Events != nil || in.Token != nil || in.Status != nil && *in.Status == advert.DestinationActive {
		line, err := s.reach(ctx, d)
		if err != nil {
			return nil, err
		}
		var p core.Problems
		if in.Events != nil {
			line.Caps().checkEvents(&p, *in.Events)
			in.Events = new(inOrder(*in.Events))
		}
		if in.Token != nil {
			line.Caps().checkToken(&p, *in.Token)
		}
		if err := p.Err(); err != nil {
			return nil, err
		}
	}
	return s.store.UpdateConversionDestination(ctx, account, d.ID, in)
}

// reach returns the line to the network of a destination. One whose channel was deleted is CodeNotActivated.
func (s *Service) reach(ctx context.Context, d *advert.ConversionDestination) (*line, error) {
	line, err := s.activated(ctx, d.AccountID, d.ChannelID)
	var missing *core.Error
	if errors.As(err, &missing) && missing.Code == core.CodeMissing {
		return nil, notActivated("The channel of this destination was deleted. Connect it again with POST /socials: it is the same channel then.")
	}
	return line, err
}
