package webhooks

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayReach says by the list of special networks and by the standard library's own words whether a delivery may go to an address.
func mayReach(a netip.Addr) bool {
	a = a.Unmap()
	for _, network := range specialNetworks {
		if netip.MustParsePrefix(network).Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast() && a.Zone() == ""
}

// public is a guard of production on a machine that has no public address.
func public() *Guard {
	g := NewGuard(GuardOptions{})
	g.own = func() ([]net.Addr, error) { return nil, nil }
	return g
}

// FuzzControl: no connection is made to an address that is out of reach, or to another port than those of https.
func FuzzControl(f *testing.F) {
	for _, text := range []string{
		"93.184.215.14", "127.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "10.0.0.1", "255.255.255.255", "2606:2800:21f::1", "::1",
		"::ffff:127.0.0.1", "::ffff:93.184.215.14", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
	} {
		a := netip.MustParseAddr(text)
		f.Add(a.AsSlice(), "", uint16(443))
	}
	f.Add(netip.MustParseAddr("2606:2800:21f::1").AsSlice(), "eth0", uint16(8443))
	f.Add([]byte{93, 184, 215, 14}, "", uint16(22))
	g := public()
	f.Fuzz(func(t *testing.T, address []byte, zone string, port uint16) {
		a, ok := netip.AddrFromSlice(address)
		if !ok {
			return
		}
		network := "tcp4"
		if a = a.WithZone(zone); a.Is6() {
			network = "tcp6"
		}
		err := g.Control(network, netip.AddrPortFrom(a, port).String(), nil)
		if !mayReach(a) || port != 443 && port != 8443 {
			require.ErrorIs(t, err, errBlocked, "%s, port %d", a, port)
		}
	})
}

// FuzzControlText: what is no address and port at all is refused too.
func FuzzControlText(f *testing.F) {
	for _, text := range []string{"93.184.215.14:443", "127.0.0.1:443", "[::1]:443", "[fe80::1%eth0]:443", "[2606:2800:21f::1%443]:443", "0177.0.0.1:443", "2130706433:443", "example.com:443", "", ":443"} {
		f.Add("tcp4", text)
		f.Add("tcp6", text)
	}
	f.Add("udp4", "93.184.215.14:443")
	g := public()
	f.Fuzz(func(t *testing.T, network, text string) {
		if g.Control(network, text, nil) != nil {
			return
		}
		to, err := netip.ParseAddrPort(text)
		require.NoError(t, err)
		require.True(t, mayReach(to.Addr()), text)
		require.Contains(t, []string{"tcp4", "tcp6"}, network)
		require.Contains(t, []uint16{443, 8443}, to.Port())
	})
}

// FuzzCheckURL: a URL that is stored goes to a public name or address by https. It says nothing to a proxy or a browser that it does not say to us.
// Checked again, it stays as it is stored.
func FuzzCheckURL(f *testing.F) {
	for _, host := range blockedHosts {
		f.Add("https://" + host + "/hook")
	}
	for _, raw := range []string{
		"https://example.com/hook?a=1&b=%20", "https://Bücher.example:443/", "https://[2606:2800:21f::1]:8443/x", "https://93.184.215.14", "https://user:pass@example.com/",
		"https://example.com#@evil.example", `https://example.com\@evil.example`, "https:example.com", "//example.com", "https://%31%32%37.0.0.1/", "https://[::ffff:7f00:1]/",
		"https://example.com./", "https://example.com:0443/", "https://example.com:/", "HTTPS://EXAMPLE.COM", "https://1.2.3.4.5/", "https://xn--bcher-kva.example/", "https://a.%30", "https://.\x80", "https://a..b/",
	} {
		f.Add(raw)
	}
	g := public()
	f.Fuzz(func(t *testing.T, raw string) {
		stored, err := g.CheckURL(raw)
		if err != nil {
			return
		}
		u, err := url.Parse(stored)
		require.NoError(t, err)
		require.Equal(t, "https", u.Scheme)
		require.Nil(t, u.User)
		require.Contains(t, []string{"", "443", "8443"}, strings.TrimLeft(u.Port(), "0"))
		require.NotContains(t, stored, "#")
		require.NotContains(t, stored, `\`)
		require.LessOrEqual(t, len(stored), maxURL)
		for _, r := range u.Host {
			require.Greater(t, r, ' ', "%q", u.Host)
			require.Less(t, r, rune(0x7f), "%q", u.Host)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil {
			require.True(t, mayReach(a), stored)
		} else {
			require.False(t, isOldNotation(u.Hostname()), stored)
		}
		again, err := g.CheckURL(stored)
		require.NoError(t, err)
		require.Equal(t, stored, again)
	})
}

// isOldNotation says whether the resolvers of C read a host as an IPv4 address: numbers with dots between them, each decimal, octal or hexadecimal.
func isOldNotation(host string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if _, err := strconv.ParseUint(label, 0, 64); err != nil {
			return false
		}
	}
	return true
}
