package domains

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// dnsTime is how long one question may take.
const dnsTime = 5 * time.Second

// SystemDNS returns the address of the DNS server that this machine uses. If that is not known, it comes with an error and is
// the address of this machine, as for any program of Go.
func SystemDNS() (string, error) {
	const local = "127.0.0.1:53"
	config, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err != nil {
		return local, err
	}
	if len(config.Servers) == 0 {
		return local, errors.New("/etc/resolv.conf names no server")
	}
	return net.JoinHostPort(config.Servers[0], config.Port), nil
}

// resolver asks one DNS server. No answer is as good as no record.
type resolver struct{ address string }

// txt returns the texts of a name.
func (r resolver) txt(ctx context.Context, name string) []string {
	var texts []string
	for _, record := range r.ask(ctx, name, dns.TypeTXT) {
		if t, ok := record.(*dns.TXT); ok {
			texts = append(texts, strings.Join(t.Txt, ""))
		}
	}
	return texts
}

// cname returns the name that a name stands for, "" if it is none but itself.
func (r resolver) cname(ctx context.Context, name string) string {
	for _, record := range r.ask(ctx, name, dns.TypeCNAME) {
		if c, ok := record.(*dns.CNAME); ok && strings.EqualFold(c.Hdr.Name, dns.Fqdn(name)) {
			return strings.TrimSuffix(c.Target, ".")
		}
	}
	return ""
}

// ask returns the answers to a question, by TCP if they do not fit into a packet.
func (r resolver) ask(ctx context.Context, name string, kind uint16) []dns.RR {
	ctx, cancel := context.WithTimeout(ctx, dnsTime)
	defer cancel()
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), kind)
	question.SetEdns0(1232, false)
	for _, network := range []string{"udp", "tcp"} {
		answer, _, err := (&dns.Client{Net: network, Timeout: dnsTime}).ExchangeContext(ctx, question, r.address)
		if err != nil || answer.Rcode != dns.RcodeSuccess {
			return nil
		}
		if !answer.Truncated {
			return answer.Answer
		}
	}
	return nil
}
