package mail

import (
	"bufio"
	"fmt"
	"mime"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

var letter = Letter{
	From: "Ελληνικές \r\nBcc: evil@example.com", ReplyTo: "help@shop.example", To: "grace@example.com", Subject: "Receipt\r\nX-Evil: yes", Text: "Hello,\nすべて\n",
}

// check reads a letter as its reader does.
func check(t *testing.T, text, from string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(text))
	require.NoError(t, err)
	sender, err := m.Header.AddressList("From")
	require.NoError(t, err)
	assert.Equal(t, from, sender[0].Address)
	assert.Equal(t, "Ελληνικές Bcc: evil@example.com", sender[0].Name)
	assert.Equal(t, "<grace@example.com>", m.Header.Get("To"))
	assert.Contains(t, m.Header.Get("Reply-To"), "help@shop.example")
	assert.Equal(t, "Receipt X-Evil: yes", m.Header.Get("Subject"))
	assert.Empty(t, m.Header.Get("Bcc"))
	assert.Empty(t, m.Header.Get("X-Evil"))
	assert.NotEmpty(t, m.Header.Get("Date"))
	assert.NotEmpty(t, m.Header.Get("Message-ID"))
}

// A letter that is sent twice is the same letter to whoever reads it.
func TestFolder_NamesALetterByItsRow(t *testing.T) {
	t.Parallel()
	dir, named := t.TempDir(), letter
	named.ID = "letter_1"
	for range 2 {
		require.NoError(t, Folder{Path: dir}.Send(t.Context(), named))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := netmail.ReadMessage(strings.NewReader(string(text)))
		require.NoError(t, err)
		assert.Equal(t, "<letter_1@localhost.localdomain>", m.Header.Get("Message-ID"))
	}
}

// What stands encoded in a name is shown as it stands, and cannot pose as another sender or another subject.
func TestMessage_DecodesNothingThatANameHolds(t *testing.T) {
	t.Parallel()
	posing := letter
	posing.From, posing.Subject = "=?utf-8?q?Bank?=", "Hello =?utf-8?q?=0d=0aX-Evil:_yes?="
	m, err := posing.message("post@example.org")
	require.NoError(t, err)
	var text strings.Builder
	_, err = m.WriteTo(&text)
	require.NoError(t, err)
	read, err := netmail.ReadMessage(strings.NewReader(text.String()))
	require.NoError(t, err)
	subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject"))
	require.NoError(t, err)
	assert.Equal(t, "Hello = ?utf-8?q?=0d=0aX-Evil:_yes?=", subject)
	sender, err := read.Header.AddressList("From")
	require.NoError(t, err)
	assert.Equal(t, "= ?utf-8?q?Bank?=", sender[0].Name)
	assert.Empty(t, read.Header.Get("X-Evil"))
}

// Mail programs end news by one click as RFC 8058 has it, which asks for https.
func TestMessage_CanBeEndedByOneClick(t *testing.T) {
	t.Parallel()
	for leave, post := range map[string]string{"https://shop.example/unsubscribe/x": "List-Unsubscribe=One-Click", "http://127.0.0.1:8080/unsubscribe/x": "", "": ""} {
		news := letter
		news.Leave = leave
		m, err := news.message("post@example.org")
		require.NoError(t, err)
		var text strings.Builder
		_, err = m.WriteTo(&text)
		require.NoError(t, err)
		read, err := netmail.ReadMessage(strings.NewReader(text.String()))
		require.NoError(t, err)
		assert.Equal(t, post, read.Header.Get("List-Unsubscribe-Post"), leave)
		assert.Equal(t, leave, strings.Trim(read.Header.Get("List-Unsubscribe"), "<>"))
	}
}

func TestContent_IsTextByText(t *testing.T) {
	t.Parallel()
	c := content{
		opening: []string{"Hello.", "How are you?"}, facts: []string{"Total: 1", "Paid: 1"}, actions: []action{{"Look here:", "https://a.example", "Look"}},
		items: []item{{name: "Key", value: "ABC"}, {name: "Club"}}, closing: []string{"Bye."},
	}
	assert.Equal(t, "Hello.\n\nHow are you?\n\nTotal: 1\nPaid: 1\n\nKey\nABC\n\nClub\n\nLook here:\nhttps://a.example\n\nBye.\n", c.text())
}

func TestInTurn_KeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	a, b := core.Due{AccountID: "a"}, core.Due{AccountID: "b"}
	assert.Equal(t, []core.Due{a, b, a, a}, inTurn([][]core.Due{{a, a, a}, {b}}))
}

func TestFolder_KeepsTheLetter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mail")
	require.NoError(t, Folder{Path: dir}.Send(t.Context(), letter))
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	check(t, string(text), "shop@localhost.localdomain")
}

// mailServer takes one letter as RFC 5321 wants it, or refuses it, and returns its address and what it was sent.
func mailServer(t *testing.T, verdict string) (address string, sent chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	sent = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		say := func(line string) { fmt.Fprintf(conn, "%s\r\n", line) }
		say("220 ready")
		var data strings.Builder
		inData := false
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			switch line := lines.Text(); {
			case inData && line == ".":
				inData = false
				sent <- data.String()
				say(verdict)
			case inData:
				data.WriteString(line + "\r\n")
			case strings.HasPrefix(line, "EHLO"):
				say("250 here")
			case line == "DATA":
				inData = true
				say("354 go on")
			case line == "QUIT":
				say("221 bye")
				return
			default:
				say("250 fine")
			}
		}
	}()
	return "smtp://" + listener.Addr().String(), sent
}

func TestSMTP_HandsTheLetterOver(t *testing.T) {
	t.Parallel()
	address, sent := mailServer(t, "250 taken")
	m, err := NewSMTP(address, "post@example.org")
	require.NoError(t, err)
	require.NoError(t, m.Send(t.Context(), letter))
	check(t, <-sent, "post@example.org")
}

func TestSMTP_SaysWhenTheLetterWasNotTaken(t *testing.T) {
	t.Parallel()
	address, _ := mailServer(t, "554 we do not want it")
	m, err := NewSMTP(address, "post@example.org")
	require.NoError(t, err)
	assert.ErrorContains(t, m.Send(t.Context(), letter), "we do not want it")
}

func TestSMTP_DoesNotShowItsPasswordInTheOpen(t *testing.T) {
	t.Parallel()
	address, sent := mailServer(t, "250 taken")
	m, err := NewSMTP(strings.Replace(address, "smtp://", "smtp://user:secret@", 1), "post@example.org")
	require.NoError(t, err)
	require.Error(t, m.Send(t.Context(), letter))
	assert.Empty(t, sent)
}

func TestNewSMTP_RefusesWhatIsNoMailServer(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://host/path", "smtp://host?tls=no", "smtp://host:port"} {
		_, err := NewSMTP(wrong, "post@example.org")
		assert.Error(t, err, wrong)
	}
}
