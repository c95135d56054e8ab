package webhooks

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blockedHosts must be refused in production however they are written.
var blockedHosts = []string{
	"127.0.0.1", "127.1", "0x7f000001", "0x7f.0.0.1", "2130706433", "017700000001", "0177.0.0.1", "0", "0.0.0.0",
	"localhost", "localhost.", "LOCALHOST", "app.localhost", "[::1]", "[::]",
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]",
	"[fe80::1%25eth0]", "[fe80::1]", "169.254.169.254", "169.254.170.2", "[fd00:ec2::254]", "100.100.100.200",
	"192.168.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "metadata.google.internal", "db", "printer.local",
	"192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
	"255.255.255.255", "[100::1]", "[2001::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[fc00::1]", "[fec0::1]",
	"[ff02::1]", "１２７.0.0.1", "127。0。0。1", "example。com", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
}

func TestCheckURL_RefusesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	for _, host := range blockedHosts {
		_, err := g.CheckURL("https://" + host + "/hook")
		require.Error(t, err, host)
	}
}

func TestCheckURL_RefusesMalformedAndMisleadingURLs(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	for _, raw := range []string{
		"", "/hook", "example.com/hook", "//example.com/hook", "https://", "https:///hook", "https:example.com",
		"https://user:pass@example.com/", "https://user@example.com/", "https://example.com#@evil.example", "https://example.com/#",
		`https://example.com\@evil.example`, "https://exa\tmple.com/", "https://example.com/\n", "https://example.com/\x00", " https://example.com/",
		"file:///etc/passwd", "gopher://example.com/", "ftp://example.com/", "javascript:alert(1)", "http://example.com/",
		"https://xn--a/", "https://xn--zzzzzzzzz.com/", "https://exa_mple.com/", "https://example..com/", "https://.com/", "https://example.%80.com/", "https://-.com/",
		"https://" + strings.Repeat("a", 64) + ".com/", "https://[example.com]/", "https://[::1/",
		"https://example.com:22/", "https://example.com:5432/", "https://example.com:6379/", "https://example.com:0/",
		"https://example.com:99999/", "https://example.com:-1/", "https://" + strings.Repeat("a", 250) + ".com/",
		"https://example.com/" + strings.Repeat("a", 2048),
	} {
		_, err := g.CheckURL(raw)
		require.Error(t, err, "%q", raw)
	}
}

func TestCheckURL_KeepsPublicURLsAsTheyAre(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	for raw, stored := range map[string]string{
		"https://example.com/hook?a=1&b=%20": "https://example.com/hook?a=1&b=%20",
		"https://example.com":                "https://example.com",
		"https://example.com:8443/":          "https://example.com:8443/",
		"https://93.184.215.14/":             "https://93.184.215.14/",
		"https://[2606:2800:21f::1]:443/x":   "https://[2606:2800:21f::1]:443/x",
		"https://Bücher.example/hook":        "https://xn--bcher-kva.example/hook",
		"https://hooks.Example.com:443/":     "https://hooks.example.com:443/",
		"https://xn--bcher-kva.example/":     "https://xn--bcher-kva.example/",
		"https://1password.com/":             "https://1password.com/",
	} {
		got, err := g.CheckURL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, stored, got)
	}
}

func TestCheckURL_DevelopmentAllowsHTTPAndLoopbackOnly(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{Development: true})
	for _, raw := range []string{"http://127.0.0.1:9000/", "http://localhost:3000/hook", "https://[::1]:1234/", "http://example.com:81/"} {
		_, err := g.CheckURL(raw)
		require.NoError(t, err, raw)
	}
	for _, raw := range []string{"http://10.0.0.1/", "http://169.254.169.254/latest", "http://metadata.google.internal/", "http://0.0.0.0:80/", "http://2130706433/", "http://127.0.0.1:70000/"} {
		_, err := g.CheckURL(raw)
		require.Error(t, err, raw)
	}
}

func TestCheckURL_PortsThatAreSetCountInDevelopmentToo(t *testing.T) {
	t.Parallel()
	for _, development := range []bool{true, false} {
		g := NewGuard(GuardOptions{Development: development, Ports: []uint16{9443}})
		_, err := g.CheckURL("https://example.com:9443/")
		require.NoError(t, err)
		_, err = g.CheckURL("https://example.com/")
		require.EqualError(t, err, "must use one of the allowed ports: 9443")
		require.NoError(t, g.Control("tcp4", "93.184.215.14:9443", nil))
		require.ErrorIs(t, g.Control("tcp4", "93.184.215.14:443", nil), errBlocked)
	}
}

func TestCheckURL_SaysNothingAboutWhyAnAddressIsBlocked(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{Deny: []netip.Prefix{netip.MustParsePrefix("93.184.215.0/24")}})
	for _, host := range []string{"127.0.0.1", "169.254.169.254", "metadata.google.internal", "93.184.215.14", "2130706433"} {
		_, err := g.CheckURL("https://" + host + "/")
		require.EqualError(t, err, "must have a public address", host)
	}
}

func TestControl_RefusesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	for _, host := range blockedHosts {
		a, err := netip.ParseAddr(strings.NewReplacer("[", "", "]", "", "%25", "%").Replace(host))
		if err != nil {
			continue // a name: at the dial it has become one of the addresses
		}
		network := "tcp4"
		if a.Is6() {
			network = "tcp6"
		}
		require.ErrorIs(t, g.Control(network, netip.AddrPortFrom(a, 443).String(), nil), errBlocked, host)
	}
	require.NoError(t, g.Control("tcp4", "93.184.215.14:443", nil))
	require.NoError(t, g.Control("tcp6", "[2606:2800:21f::1]:443", nil))
	require.NoError(t, g.Control("tcp6", "[::ffff:93.184.215.14]:443", nil), "IPv4 inside IPv6 is that IPv4")
	require.ErrorIs(t, g.Control("tcp4", "93.184.215.14:22", nil), errBlocked)
	require.ErrorIs(t, g.Control("udp4", "93.184.215.14:443", nil), errBlocked)
	require.ErrorIs(t, g.Control("tcp4", "example.com:443", nil), errBlocked)
}

func TestControl_RefusesOwnPublicAddress(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{})
	g.own = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("93.184.215.14"), Mask: net.CIDRMask(24, 32)}}, nil
	}
	require.ErrorIs(t, g.Control("tcp4", "93.184.215.14:443", nil), errBlocked)
	require.ErrorIs(t, g.Control("tcp6", "[::ffff:93.184.215.14]:443", nil), errBlocked)
	require.NoError(t, g.Control("tcp4", "93.184.215.15:443", nil))
	g.own = func() ([]net.Addr, error) { return nil, net.ErrClosed }
	require.ErrorIs(t, g.Control("tcp4", "93.184.215.15:443", nil), errBlocked, "fails closed")
}

func TestControl_DenyIsStrongerThanAllow(t *testing.T) {
	t.Parallel()
	g := NewGuard(GuardOptions{
		Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Deny:  []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
	})
	require.NoError(t, g.Control("tcp4", "10.2.0.1:443", nil))
	require.ErrorIs(t, g.Control("tcp4", "10.1.0.1:443", nil), errBlocked)
	_, err := g.CheckURL("https://hooks.internal/")
	require.NoError(t, err, "an intranet has names of its own")
}
