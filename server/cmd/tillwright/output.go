package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk/wire"
)

// jsonFlag gives a command the flag --json, with which it prints JSON with the API's field names.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON with the API's field names")
}

func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(printableJSON(b.Bytes()))
	return err
}

// printList prints rows as a list object, or as a table with one line for each row.
func printList[T any](cmd *cobra.Command, asJSON bool, rows []T, header string, cells func(*T) []string) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return printJSON(out, wire.List[T]{Object: "list", Data: rows})
	}
	var whole bytes.Buffer // written at once: whoever reads the first line alone, such as head, may be gone before a second write
	table := tabwriter.NewWriter(&whole, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(table, header+"\n"); err != nil {
		return err
	}
	for i := range rows {
		line := cells(&rows[i])
		for j := range line {
			line[j] = printable(line[j])
		}
		if _, err := io.WriteString(table, strings.Join(line, "\t")+"\n"); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := out.Write(whole.Bytes())
	return err
}

// printable returns text that somebody else wrote, such as a name, so that it cannot harm a terminal. It quotes what would be a
// command to it, turn the direction of text or break a line, and what is not UTF-8.
func printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isPrintable(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// isPrintable reports whether a character may be printed as it is. Every kind of space may. What formats text may not, such as
// a change of its direction.
func isPrintable(r rune) bool { return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) }

// printableJSON does what printable does for JSON, which stays valid JSON: encoding/json escapes only the control characters of
// ASCII.
func printableJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r == '\n' || isPrintable(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
