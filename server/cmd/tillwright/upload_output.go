package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
)

// uploadMeter shows how far an upload is: a bar on a terminal, and lines elsewhere.
type uploadMeter struct {
	out   io.Writer
	isBar bool

	size    int64
	begun   time.Time
	already int // rows of an earlier run
}

func newUploadMeter(out io.Writer) *uploadMeter {
	return &uploadMeter{out: out, isBar: isTerminal(out)}
}

func (m *uploadMeter) start(size int64, already int) {
	m.size, m.already, m.begun = size, already, time.Now()
	if already > 0 {
		m.note("Going on after the %s rows of the run before.", grouped(int64(already)))
	}
}

const barWidth = 30

// show shows that so many rows are uploaded. Bytes is how much of the file they are.
func (m *uploadMeter) show(rows int, bytes int64) {
	percent := int(100 * min(bytes, m.size) / max(m.size, 1))
	if !m.isBar {
		m.note("%s rows, %d %%", grouped(int64(rows)), percent)
		return
	}
	done := barWidth * percent / 100
	speed := float64(rows-m.already) / max(time.Since(m.begun).Seconds(), 0.001)
	fmt.Fprintf(m.out, "\r\x1b[K[%s%s] %3d %%  %s rows, %s a second", strings.Repeat("#", done), strings.Repeat(".", barWidth-done),
		percent, grouped(int64(rows)), grouped(int64(speed)))
}

// note prints a line where the bar is.
func (m *uploadMeter) note(format string, values ...any) {
	m.clear()
	fmt.Fprintln(m.out, printable(fmt.Sprintf(format, values...)))
}

func (m *uploadMeter) clear() {
	if m.isBar {
		fmt.Fprintf(m.out, "\r\x1b[K")
	}
}

// uploadSummary says what became of a file, with the API's field names. It names rows by their line instead of their index.
type uploadSummary struct {
	Object     string `json:"object"`
	AudienceID string `json:"audience_id"`
	uploadCounts
	AudienceSize *int64 `json:"audience_size"`
	Status       string `json:"status"`

	platform sdk.AdPlatform
}

func summarize(a *sdk.AdAudience, counts uploadCounts) *uploadSummary {
	counts.Errors = append([]rowError{}, counts.Errors...)
	counts.Ignored = append([]string{}, counts.Ignored...)
	return &uploadSummary{
		Object: "audience_upload", AudienceID: a.ID, uploadCounts: counts, AudienceSize: a.Size, Status: string(a.Status), platform: a.Platform,
	}
}

// print prints the counts, and a table of what is wrong.
func (s *uploadSummary) print(cmd *cobra.Command, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), s)
	}
	cmd.Printf("received    %s\naccepted    %s\ninvalid     %s\nduplicates  %s\n", grouped(s.Received), grouped(s.Accepted), grouped(s.Invalid), grouped(s.Duplicates))
	size := "It does not say yet how many people are in it."
	if s.AudienceSize != nil {
		size = fmt.Sprintf("About %s people are in it.", grouped(*s.AudienceSize))
	}
	cmd.Printf("\n%s\n", printable(fmt.Sprintf("The audience %s on %s is %s. %s", s.AudienceID, s.platform, s.Status, size)))
	if len(s.Ignored) > 0 {
		cmd.Println(printable(fmt.Sprintf("%s does not match people by %s.", s.platform, strings.Join(s.Ignored, ", "))))
	}
	if len(s.Errors) == 0 {
		return nil
	}
	cmd.Println()
	err := printList(cmd, false, s.Errors, "LINE\tCOLUMN\tREASON", func(e *rowError) []string {
		return []string{fmt.Sprint(e.Line), cmp.Or(e.Param, "-"), e.Message}
	})
	if more := s.Invalid - int64(len(s.Errors)); more > 0 {
		cmd.Printf("and %s more\n", grouped(more))
	}
	return err
}
