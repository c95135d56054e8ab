package webhooks

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The old ways to write an IPv4 address multiply. It has one to four parts, of which the last one stands for all that
// are left. Each is decimal, octal or hexadecimal with zeros before it, in any script that has digits and between any
// dots.
func TestCheckURL_RefusesInternalAddressesInEveryNotation(t *testing.T) {
	t.Parallel()
	guards := []*Guard{NewGuard(GuardOptions{}), NewGuard(GuardOptions{Development: true})}
	internal := []string{"10.1.2.3", "172.16.0.9", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "224.0.0.251"}
	rapid.Check(t, func(t *rapid.T) {
		host := notation(t, netip.MustParseAddr(rapid.SampledFrom(internal).Draw(t, "address")))
		port := rapid.SampledFrom([]string{"", ":443", ":8443"}).Draw(t, "port")
		for _, g := range guards {
			_, err := g.CheckURL("https://" + host + port + "/hook")
			require.Error(t, err, host)
		}
	})
}

func notation(t *rapid.T, a netip.Addr) string {
	raw := a.As4()
	parts := rapid.IntRange(1, 4).Draw(t, "parts")
	var written []string
	for _, b := range raw[:parts-1] {
		written = append(written, number(t, uint64(b)))
	}
	rest := append(make([]byte, 4+parts-1), raw[parts-1:]...)
	written = append(written, number(t, binary.BigEndian.Uint64(rest)))
	host := strings.Join(written, rapid.SampledFrom([]string{".", "。", "．", "｡", "%E3%80%82"}).Draw(t, "dot"))
	if rapid.Bool().Draw(t, "other script") {
		host = otherDigits(host, rapid.SampledFrom([]rune{'０', '𝟎', '𝟶'}).Draw(t, "zero"))
	}
	return host + rapid.SampledFrom([]string{"", "."}).Draw(t, "end")
}

func number(t *rapid.T, n uint64) string {
	text := fmt.Sprintf(rapid.SampledFrom([]string{"%d", "0%o", "000%o", "0x%x", "0X%X", "0x00%x"}).Draw(t, "base"), n)
	if n == 0 {
		return "0"
	}
	return text
}

// otherDigits writes the digits in a script whose zero is given; a percent sign ends the disguise.
func otherDigits(host string, zero rune) string {
	if strings.Contains(host, "%") {
		return host
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return zero + r - '0'
		}
		return r
	}, host)
}
