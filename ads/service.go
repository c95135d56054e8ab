package ads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Service has the use cases of ads. Each write has the shape of a payment: the intent is stored, the network is asked
// with the intent's id as its token, the outcome is stored; it can be run again from wherever it stopped. A Service is
// safe for concurrent use.
//
// Its methods return a *core.Error for what a caller can do something about. Any other error of a write leaves the
// outcome unknown: the same request sent again, or the reconciler, finds out.
type Service struct {
	store   *store.Store
	drivers Drivers
	log     *slog.Logger
}

// Drivers are the networks that a service speaks to, by the name of who speaks and by platform.
type Drivers map[string]map[store.Platform]Network

// DriverSandbox is the name of the driver of channels that are connected without access to a real network.
const DriverSandbox = "sandbox"

// New makes a Service.
func New(s *store.Store, drivers Drivers, log *slog.Logger) *Service {
	guarded := Drivers{}
	for name, networks := range drivers {
		guarded[name] = map[store.Platform]Network{}
		for platform, network := range networks {
			guarded[name][platform] = outside{network}
		}
	}
	return &Service{store: s, drivers: guarded, log: log}
}

// Actor is on whose behalf something is written: an account, and for the audit trail its key and its request.
type Actor struct {
	Account   string // acct_
	Key       string // key_
	RequestID string // req_
}

// line is an open way to a network: a channel, and the driver that speaks for it.
type line struct {
	Network
	channel *store.SocialAccount
	conn    Conn
}

// line opens the way to a channel's network.
func (s *Service) line(channel *store.SocialAccount) (*line, error) {
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

// activated opens the way to the channel that a request names.
func (s *Service) activated(ctx context.Context, account, channel string) (*line, error) {
	a, err := s.store.ActivatedChannel(ctx, account, channel)
	if err != nil {
		return nil, err
	}
	return s.line(a)
}

// at names the parameter that a CodeMissing is about.
func at(param string, err error) error {
	var missing *core.Error
	if errors.As(err, &missing) && missing.Code == core.CodeMissing {
		named := *missing
		named.Param = param
		return &named
	}
	return err
}

// bodyPlatform reads a field. "" is absent.
func bodyPlatform(platform string) (store.Platform, error) {
	if platform != "" && !store.Platform(platform).IsKnown() {
		return "", core.Invalid("platform", "platform must be one of "+list(store.Platforms)+".")
	}
	return store.Platform(platform), nil
}

// required are fields that must be sent, with what was, in the order in which their absence is reported.
type required []struct{ field, value string }

func (r required) err() error {
	for _, f := range r {
		if f.value == "" {
			return parameterMissing(f.field, f.field+" is required. Fields go at the top level of the body.")
		}
	}
	return nil
}

// badRequest says that a parameter is not what it can be at all.
func badRequest(param, message string) *core.Error {
	return &core.Error{Code: core.CodeBadRequest, Param: param, Message: message}
}

// parameterMissing says that a parameter is needed.
func parameterMissing(param, message string) *core.Error {
	return &core.Error{Code: core.CodeParameterMissing, Param: param, Message: message}
}
