package throttle

import (
	"net/netip"
	"time"
)

// Around returns what stands for whoever has a network address, and the network around it. For IPv4 these are the address and its /24. For IPv6
// they are its /64, which is one subscriber, and its /48. An address that exists inside networks only, or is none, stands for itself and has no
// network around it. It belongs to a proxy that nobody named, with all its people behind it.
func Around(address string) (host, network string) {
	addr, err := netip.ParseAddr(address)
	if addr = addr.Unmap().WithZone(""); err != nil || isInside(addr) {
		return address, ""
	}
	bits, around := 32, 24
	if addr.Is6() {
		bits, around = 64, 48
	}
	return netip.PrefixFrom(addr, bits).Masked().String(), netip.PrefixFrom(addr, around).Masked().String()
}

// carrierGrade is the range of addresses behind which Internet providers hide their own customers: 100.64.0.0/10.
var carrierGrade = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10)

// isInside reports whether an address exists inside networks only, so that it says nothing about who has it.
func isInside(addr netip.Addr) bool {
	return !addr.IsGlobalUnicast() || addr.IsPrivate() || carrierGrade.Contains(addr)
}

// Nearby is how often something may be done from one address, from the network around it, and from an address inside networks.
type Nearby struct{ Address, Network, Inside int64 }

// From returns the limits within a window for what is done from a network address.
func From(address, what string, window time.Duration, most Nearby) []Limit {
	host, network := Around(address)
	if network == "" {
		return []Limit{{Subject: what + ":inside:" + host, Most: most.Inside, Window: window}}
	}
	return []Limit{
		{Subject: what + ":address:" + host, Most: most.Address, Window: window},
		{Subject: what + ":network:" + network, Most: most.Network, Window: window},
	}
}
