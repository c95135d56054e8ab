package webhooks

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const maxURL = 2048 // bytes

// CheckURL returns a URL as it is stored, with its host in ASCII. The text of its error tells the owner of the endpoint
// what to send instead. It does not resolve names: the answer would show what the network behind this server knows.
func (g *Guard) CheckURL(raw string) (string, error) {
	if len(raw) > maxURL {
		return "", errors.New("must be at most 2048 bytes long")
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return "", errors.New("must not contain spaces, control characters or backslashes")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", errors.New("must be a valid URL, such as https://example.com/webhooks")
	}
	if err := g.checkParts(u, raw); err != nil {
		return "", err
	}
	host, err := g.checkHost(u.Hostname())
	if err != nil {
		return "", err
	}
	if host == u.Hostname() {
		return raw, nil
	}
	return withHost(u, host)
}

// checkParts checks everything but the host.
func (g *Guard) checkParts(u *url.URL, raw string) error {
	switch {
	case u.Scheme == "http" && !g.development:
		return errors.New("must use https")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("must be an absolute URL beginning with https://")
	case u.User != nil:
		return errors.New("must not contain a user name or password: deliveries are authenticated by their signature")
	case strings.Contains(raw, "#"):
		return errors.New("must not contain a fragment")
	}
	if !g.portAllowed(portOf(u)) {
		return errors.New("must use one of the allowed ports: " + g.portList())
	}
	return nil
}

// portOf returns the port of a URL, or 0, which is never allowed, if it is not a number below 65536.
func portOf(u *url.URL) uint16 {
	text := u.Port()
	switch {
	case text != "":
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return 0
		}
		return uint16(port)
	case u.Scheme == "http":
		return 80
	}
	return 443
}

func (g *Guard) portList() string {
	if g.ports == nil {
		return "1 to 65535"
	}
	list := make([]string, len(g.ports))
	for i, port := range g.ports {
		list[i] = strconv.Itoa(int(port))
	}
	return strings.Join(list, ", ")
}

// hostNames checks and converts host names that a name server can be asked for. idna.Lookup alone would let empty labels
// pass, and labels that are too long.
var hostNames = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true))

// checkHost returns the host in ASCII. An address instead of a name goes through the same check as when it is dialled.
func (g *Guard) checkHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return host, g.checkAddr(a)
	}
	// Other dots than the full stop are a way to write an address that does not look like one.
	if strings.ContainsAny(host, "\u3002\uff0e\uff61") {
		return "", errors.New("must separate the labels of its host with full stops")
	}
	ascii, err := hostNames.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || !utf8.ValidString(host) {
		return "", errors.New("must have a valid host name")
	}
	if looksNumeric(ascii) || !g.nameAllowed(ascii) {
		return "", errBlocked
	}
	return ascii, nil
}

// looksNumeric reports whether some resolver would read a name as an IPv4 address: 127.1, 0x7f000001, 2130706433,
// 017700000001. Such a name cannot mean anything else, because no top-level domain begins with a digit.
func looksNumeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == ""
}

// internalZones are the ends of names that never belong to a public host.
var internalZones = [...]string{"localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa", "corp", "test", "invalid"}

// nameAllowed refuses names that only an internal network resolves. If networks are allowed on purpose, such names are
// wanted, and the check at the dial decides.
func (g *Guard) nameAllowed(name string) bool {
	if len(g.allow) > 0 || (g.development && (name == "localhost" || strings.HasSuffix(name, ".localhost"))) {
		return true
	}
	for _, zone := range internalZones {
		if strings.HasSuffix(name, "."+zone) {
			return false
		}
	}
	return strings.Contains(name, ".")
}

// withHost returns the URL with another host.
func withHost(u *url.URL, host string) (string, error) {
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host = host
	if text := u.String(); len(text) <= maxURL {
		return text, nil
	}
	return "", errors.New("must be at most 2048 bytes long with its host in ASCII")
}
