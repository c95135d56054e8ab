package webhooks

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// specialNetworks are those that no delivery may go to, whatever the library behind the guard thinks of them.
var specialNetworks = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
	"::/128", "::1/128", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001::/32", "2001:db8::/32", "2002::/16", "3fff::/20",
	"5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	"168.63.129.16/32", // Azure's services for the machine
}

func TestGuard_RefusesEverySpecialNetworkFromItsFirstAddressToItsLast(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	for _, text := range specialNetworks {
		network := netip.MustParsePrefix(text)
		for _, a := range []netip.Addr{network.Addr(), network.Addr().Next(), last(network)} {
			if !network.Contains(a) {
				continue // a network of one address
			}
			requireRefused(t, g, a)
			if a.Is4() { // and however it travels within IPv6
				b := a.As4()
				requireRefused(t, g, netip.AddrFrom16(a.As16()))
				requireRefused(t, g, netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 12: b[0], b[1], b[2], b[3]}))
				requireRefused(t, g, netip.AddrFrom16([16]byte{0x20, 0x02, b[0], b[1], b[2], b[3]}))
				requireRefused(t, g, netip.AddrFrom16([16]byte{12: b[0], b[1], b[2], b[3]}))
				requireRefused(t, g, netip.AddrFrom16([16]byte{8: 0xff, 0xff, 12: b[0], b[1], b[2], b[3]}))
			}
		}
	}
}

// requireRefused looks at both walls: what is written and what is dialled.
func requireRefused(t *testing.T, g *Guard, a netip.Addr) {
	t.Helper()
	network, host := "tcp4", a.String()
	if a.Is6() {
		network, host = "tcp6", "["+host+"]"
	}
	require.ErrorIs(t, g.Control(network, host+":443", nil), errBlocked, host)
	_, err := g.CheckURL("https://" + host + "/")
	require.ErrorIs(t, err, errBlocked, host)
}

// last returns the highest address of a network.
func last(p netip.Prefix) netip.Addr {
	raw := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(raw)*8; bit++ {
		raw[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(raw)
	return a
}

// The neighbours of special networks are the public's.
func TestGuard_AllowsWhatIsPublic(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	for _, host := range []string{
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "128.0.0.0", "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"168.63.129.15", "168.63.129.17", "2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "2400:cb00::1",
	} {
		require.NoError(t, g.checkAddr(netip.MustParseAddr(host)), host)
	}
}

// The machine's own addresses, as the kernel tells them: loopback and private ones are special anyway, but a server
// often has a public one, too.
func TestGuard_RefusesEveryAddressOfThisMachine(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	own, err := net.InterfaceAddrs()
	require.NoError(t, err)
	require.NotEmpty(t, own)
	for _, i := range own {
		requireRefused(t, g, netip.MustParsePrefix(i.String()).Addr())
	}
}

// Other ways to write what TestCheckURL_RefusesWhatIsNotPublic writes plainly.
func TestCheckURL_SeesThroughDisguises(t *testing.T) {
	t.Parallel()
	for _, options := range []GuardOptions{{}, {Development: true}} {
		g := NewGuard(options)
		for _, host := range []string{
			"10.1", "0xa000001", "0XA000001", "167772161", "012.0.0.1", "0x0a.0.0x0.1", "10.0.0.1.", "10.0.0.0x1", "①⓪.⓪.⓪.①",
			"1\u00ad0.0.0.1", "%31%30.0.0.1", "metadata.google.internal.", "METADATA.Google.Internal", "metadata", "instance-data",
			"[::ffff:10.0.0.1]", "[::FFFF:A00:1]", "[0:0:0:0:0:ffff:0a00:0001]", "[fe80::1%25lo]", "[::ffff:10.0.0.1%251]",
			"kubernetes.default.svc.cluster.local", "db.corp", "nas.home.arpa", "router.lan",
		} {
			_, err := g.CheckURL("https://" + host + "/hook")
			require.Error(t, err, host)
		}
	}
}
