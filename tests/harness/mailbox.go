package harness

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/tillwright/tillwright/server/mail"
)

// Mailbox takes the mail of a server.
type Mailbox struct {
	mu      sync.Mutex
	letters []mail.Letter
	refusal error
}

// Send implements mail.Mailer.
func (m *Mailbox) Send(_ context.Context, l mail.Letter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refusal != nil {
		return m.refusal
	}
	m.letters = append(m.letters, l)
	return nil
}

// Refuse makes the mailbox take no letter any more, or all of them again with nil.
func (m *Mailbox) Refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusal = err
}

// Letters returns what was sent so far that is in no list of letters, such as links to the portal.
func (m *Mailbox) Letters() []mail.Letter { return m.sent(false) }

// LettersWith returns those of Letters with this in their address or their text. A shared server has the letters of other tests too.
func (m *Mailbox) LettersWith(piece string) []mail.Letter {
	return slices.DeleteFunc(m.Letters(), func(l mail.Letter) bool { return !strings.Contains(l.To+"\n"+l.Text, piece) })
}

// Listed returns what was sent so far that is in a list of letters. Its id is that of the letter.
func (m *Mailbox) Listed() []mail.Letter { return m.sent(true) }

func (m *Mailbox) sent(isListed bool) []mail.Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.letters), func(l mail.Letter) bool { return (l.ID != "") != isListed })
}
