// Package webhooks carries events from the outbox to the URLs that subscribed to them. Each delivery is one signed POST
// of at most five seconds. It is never repeated once its result is known.
package webhooks

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// GuardOptions say where deliveries may go, besides public addresses on the ports of https.
type GuardOptions struct {
	Development bool           // also http and loopback
	Ports       []uint16       // nil = 443 and 8443, in development any
	Allow       []netip.Prefix // networks that are reachable although they are not public: an intranet
	Deny        []netip.Prefix // networks that are out of reach although they are public; stronger than Allow
}

// Guard keeps deliveries away from the network that this server stands in. It checks twice: CheckURL when an endpoint is
// written, and Control at every dial, when the name has become an address. Only the second check is safe, because a name
// may point elsewhere a moment after the first one.
type Guard struct {
	development bool
	ports       []uint16
	allow, deny []netip.Prefix
	special     *ssrf.Guardian // IANA's registries of special addresses
	own         func() ([]net.Addr, error)
}

// errBlocked is all that is said about an address that is out of reach. It never says which address it is, or why.
var errBlocked = errors.New("must have a public address")

// azure is the address by which a machine in that cloud reaches the platform below it. It is the only address of this
// kind that is not in one of the special networks.
const azure = "168.63.129.16/32"

// NewGuard returns a guard. The zero options are meant for production.
func NewGuard(o GuardOptions) *Guard {
	g := &Guard{development: o.Development, ports: o.Ports, allow: o.Allow, deny: o.Deny, own: net.InterfaceAddrs}
	if g.ports == nil && !g.development {
		g.ports = []uint16{443, 8443}
	}
	g.special = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork(), ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix(azure)))
	return g
}

// Control is a net.Dialer's Control function. It refuses every connection to a port or an address that deliveries may
// not go to. The address is the one that is about to be dialled, so a name cannot change its meaning after the check.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return errBlocked
	}
	if !g.portAllowed(to.Port()) {
		return errBlocked
	}
	return g.checkAddr(to.Addr())
}

func (g *Guard) portAllowed(port uint16) bool {
	return port != 0 && (g.ports == nil || slices.Contains(g.ports, port))
}

// checkAddr returns errBlocked unless deliveries may go to the address. An IPv4 address inside IPv6 counts as that IPv4
// address. The prefixes for the transition between both (NAT64, 6to4, Teredo) are refused entirely.
func (g *Guard) checkAddr(a netip.Addr) error {
	if a.Zone() != "" {
		return errBlocked
	}
	a = a.Unmap()
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	switch {
	case slices.ContainsFunc(g.deny, within):
		return errBlocked
	case g.development && a.IsLoopback(), slices.ContainsFunc(g.allow, within):
		return nil
	case g.special.SafeAddr(a) != nil:
		return errBlocked
	}
	return g.checkNotOwn(a)
}

// checkNotOwn refuses the public addresses of this machine, because what listens on them may trust its neighbours. They
// are read again each time: interfaces come and go, and a dial costs far more. If they cannot be read, everything is
// refused.
func (g *Guard) checkNotOwn(a netip.Addr) error {
	interfaces, err := g.own()
	if err != nil {
		return errBlocked
	}
	for _, i := range interfaces {
		if prefix, err := netip.ParsePrefix(i.String()); err == nil && prefix.Addr().Unmap() == a {
			return errBlocked
		}
	}
	return nil
}
