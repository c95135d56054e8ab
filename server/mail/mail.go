// Package mail sends the letters of an account to its customers.
package mail

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTime is how long it may take to hand one letter to the mail server.
const sendTime = 30 * time.Second

// Letter is a mail. Names and the subject may hold anything, line breaks too.
type Letter struct {
	ID      string // of its row, which is its Message-ID however often it is sent; empty: it has none, and another Message-ID each time
	From    string // the seller's name
	ReplyTo string // address at which the seller reads answers; empty for a letter to one of them
	To      string
	Subject string
	Text    string
	HTML    string // the same as a page, empty for none
	Leave   string // address at which its reader ends the letters that it is one of, empty for none
	Logo    []byte // a PNG that the page shows as cid:logo, nil for none
	Picture []byte // a JPEG or PNG that the page shows as cid:picture, nil for none
}

// Mailer sends letters. When Send returns nil, the letter has been taken.
type Mailer interface {
	Send(ctx context.Context, l Letter) error
}

// SMTP hands letters to a mail server.
type SMTP struct {
	host    string
	from    string
	options []gomail.Option
}

// NewSMTP returns a Mailer for smtp://user:password@host:587 or smtps://user:password@host:465. With smtp it encrypts if the
// server can. If not, it shows the server no password. from is the address that letters are sent from.
func NewSMTP(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("the address of a mail server is smtp://user:password@host:587 or smtps://user:password@host:465")
	}
	m := &SMTP{host: u.Hostname(), from: from, options: []gomail.Option{gomail.WithTimeout(sendTime)}}
	port := 587
	if u.Scheme == "smtps" {
		port, m.options = 465, append(m.options, gomail.WithSSL())
	} else {
		m.options = append(m.options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	}
	if u.Port() != "" {
		port, _ = strconv.Atoi(u.Port()) // url.Parse has seen that it is a number
	}
	m.options = append(m.options, gomail.WithPort(port))
	if u.User != nil {
		password, _ := u.User.Password()
		m.options = append(m.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	_, err = gomail.NewClient(m.host, m.options...)
	return m, err
}

// Send implements Mailer. After an error, the mail server may have taken the letter all the same.
func (m *SMTP) Send(ctx context.Context, l Letter) error {
	message, err := l.message(m.from)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(m.host, m.options...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	if err := client.DialAndSendWithContext(ctx, message); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

// message returns the letter as a mail that is sent from an address.
func (l Letter) message(from string) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := m.FromFormat(oneLine(l.From), from); err != nil {
		return nil, fmt.Errorf("sender of a mail: %w", err)
	}
	if err := m.To(l.To); err != nil {
		return nil, fmt.Errorf("recipient of a mail: %w", err)
	}
	if l.ReplyTo != "" {
		if err := m.ReplyTo(l.ReplyTo); err != nil {
			return nil, fmt.Errorf("address for answers to a mail: %w", err)
		}
	}
	if strings.HasPrefix(l.Leave, "https:") {
		if err := m.SetListUnsubscribeOneClick(l.Leave); err != nil {
			return nil, fmt.Errorf("address that ends letters: %w", err)
		}
	} else if l.Leave != "" { // RFC 8058 asks for https
		m.SetListUnsubscribe(l.Leave)
	}
	m.Subject(oneLine(l.Subject))
	m.SetDate()
	if l.ID == "" {
		m.SetMessageID()
	} else {
		m.SetMessageIDWithValue(l.ID + from[strings.LastIndexByte(from, '@'):])
	}
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	if l.HTML != "" {
		m.AddAlternativeString(gomail.TypeTextHTML, l.HTML) // after the text: who can show both shows the last
	}
	if l.Logo != nil {
		if err := m.EmbedReader("logo.png", bytes.NewReader(l.Logo), gomail.WithFileContentID("<logo>"), gomail.WithFileContentType("image/png")); err != nil {
			return nil, fmt.Errorf("logo of a mail: %w", err)
		}
	}
	if l.Picture != nil {
		kind := http.DetectContentType(l.Picture)
		err := m.EmbedReader("picture."+strings.TrimPrefix(kind, "image/"), bytes.NewReader(l.Picture), gomail.WithFileContentID("<picture>"), gomail.WithFileContentType(gomail.ContentType(kind)))
		if err != nil {
			return nil, fmt.Errorf("picture of a mail: %w", err)
		}
	}
	return m, nil
}

// oneLine puts a text on one line, so that none of it can become a header of its own. It leaves nothing in it that a mail program would decode as if
// it had been encoded.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "=?", "= ?")
}
