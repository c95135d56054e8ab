package ads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Service has the use cases of ads. A write works like a payment: the intent is stored, the network is asked with its id
// as the token, and the outcome is stored. It can be taken up again wherever it stopped. A Service is safe for concurrent
// use.
//
// Its methods return a *core.Error if the caller can do something about it. Any other error of a write means that the
// outcome is unknown: the same request sent again finds out, or else the reconciler does.
type Service struct {
	store    *advert.Store
	drivers  Drivers
	consents Consents
	log      *slog.Logger
}

// Drivers are the networks that a service speaks to, by the name of the driver and by platform.
type Drivers map[string]map[advert.Platform]Network

// DriverSandbox is the name of the driver for channels that are connected without access to a real network.
const DriverSandbox = "sandbox"

// DriverZernio is the name of the driver that reaches networks through another company. It is used only where somebody asks for it by name.
const DriverZernio = "zernio"

// ThirdParty returns who else reads what goes to a network through a driver, "" for nobody.
func ThirdParty(driver string) string {
	if driver == DriverZernio {
		return "Zernio"
	}
	return ""
}

// New makes a Service. Every call to a network gets a deadline, and panics inside a database transaction: see outside.
func New(s *advert.Store, drivers Drivers, consents Consents, log *slog.Logger) *Service {
	guarded := Drivers{}
	for name, networks := range drivers {
		guarded[name] = map[advert.Platform]Network{}
		for platform, network := range networks {
			guarded[name][platform] = outside{network}
		}
	}
	return &Service{store: s, drivers: guarded, consents: consents, log: log}
}

// Actor says for whom something is written: an account and, for the audit trail, its API key and its request.
type Actor struct {
	Account   string // acct_
	Key       string // key_
	RequestID string // req_
}

// line is a channel that can be used now, with the driver that speaks to its network.
type line struct {
	Network
	channel *advert.SocialAccount
	conn    Conn
}

// line returns the line to a channel's network: it finds the driver and opens the channel's token. A channel whose
// driver this service does not have any more is CodeNotActivated.
func (s *Service) line(channel *advert.SocialAccount) (*line, error) {
	network := s.drivers[channel.Driver][channel.Platform]
	if network == nil {
		return nil, notActivated(fmt.Sprintf("%s was connected through %q, which this service does not have any more. Connect it again with POST /socials.",
			channel.ID, channel.Driver))
	}
	token, err := s.store.ChannelToken(channel)
	if err != nil {
		return nil, fmt.Errorf("open the access of %s: %w", channel.ID, err)
	}
	return &line{network, channel, Conn{
		Account: channel.AccountID, Channel: channel.ID, Platform: channel.Platform, PlatformID: channel.PlatformID,
		AdAccounts: channel.AdAccountIDs.V, Token: Secret(token), Now: func() time.Time { return s.store.Now().Time() },
	}}, nil
}

// activated returns the line to the network of the channel that a request names. The errors are those of
// ActivatedChannel.
func (s *Service) activated(ctx context.Context, account, channel string) (*line, error) {
	a, err := s.store.ActivatedChannel(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	return s.line(a)
}

// at returns err with param as its parameter if it is a CodeMissing, and otherwise unchanged.
func at(param string, err error) error {
	var missing *core.Error
	if errors.As(err, &missing) && missing.Code == core.CodeMissing {
		named := *missing
		named.Param = param
		return &named
	}
	return err
}

// bodyPlatform reads the field `platform` of a body. Empty means that it was not sent; an unknown network is
// CodeInvalid.
func bodyPlatform(platform string) (advert.Platform, error) {
	if platform != "" && !advert.Platform(platform).IsKnown() {
		return "", core.Invalid("platform", "platform must be one of "+list(advert.Platforms)+".")
	}
	return advert.Platform(platform), nil
}

// required lists fields that must be sent, with their values. The first one that is empty is reported.
type required []struct{ field, value string }

func (r required) err() error {
	for _, f := range r {
		if f.value == "" {
			return parameterMissing(f.field, f.field+" is required. Fields go at the top level of the body.")
		}
	}
	return nil
}

// badRequest returns the error for a parameter whose value could never be right.
func badRequest(param, message string) *core.Error {
	return &core.Error{Code: core.CodeBadRequest, Param: param, Message: message}
}

// parameterMissing returns the error for a parameter that must be sent and was not.
func parameterMissing(param, message string) *core.Error {
	return &core.Error{Code: core.CodeParameterMissing, Param: param, Message: message}
}
