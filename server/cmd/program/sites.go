package program

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/domains/acme"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/webhooks"
)

// sites is what looks at the domains of sites, and has their certificates if the server gets them itself.
type sites struct {
	*domains.Service
	authority *acme.Authority // nil if it does not
	listener  net.Listener    // by https, nil as well
}

// newSites returns what is to be closed. The domains are sellers', so that the guard checks every address of theirs.
func newSites(config *server.Config, s *store.Store, guard *webhooks.Guard, log *slog.Logger) (*sites, error) {
	address := config.SitesDNS
	if address == "" {
		var err error
		if address, err = domains.SystemDNS(); err != nil {
			log.Warn("no DNS server is known, one is expected on this machine", "address", address, "error", err.Error(), "setting", "TILLWRIGHT_SITES_DNS")
		}
	}
	o := domains.Options{Store: s.Content, DNS: address, TLS: config.SitesTLS, Client: outbound(guard), Log: log}
	if config.SitesTLS != domains.TLSACME {
		return &sites{Service: domains.New(o)}, nil
	}
	roots, err := config.SitesRoots()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", config.SitesAddr)
	if err != nil {
		return nil, err
	}
	authority, err := acme.New(acme.Options{Store: s.Content, URL: config.ACMEURL, Roots: roots, Addr: listener.Addr(), Log: log})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	log.Info("serving the domains of sites", "address", listener.Addr().String())
	o.Certificates, o.Client = authority, believing(guard, roots)
	return &sites{domains.New(o), authority, authority.Listen(listener)}, nil
}

func (s *sites) Close() {
	if s.authority != nil {
		_ = s.listener.Close()
		s.authority.Close()
	}
}

// Run looks at domains, and keeps their certificates, until ctx ends.
func (s *sites) Run(ctx context.Context) {
	var workers sync.WaitGroup
	workers.Go(func() { s.Service.Run(ctx) })
	if s.authority != nil {
		workers.Go(func() { s.authority.Run(ctx) })
	}
	workers.Wait()
}

// serve answers on the listener, and on the one of sites if there is one, until ctx ends or one of them fails.
func (s *sites) serve(ctx context.Context, api *server.Server, listener net.Listener) error {
	if s.listener == nil {
		return api.Serve(ctx, listener)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var both sync.WaitGroup
	var errs [2]error
	for i, l := range []net.Listener{listener, s.listener} {
		both.Go(func() {
			errs[i] = api.Serve(ctx, l)
			stop()
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}
