package main

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/conformance"
)

// conformanceCommand returns `tillwright conformance`, which holds a running server to the contract.
func conformanceCommand() *cobra.Command {
	var o conformance.Options
	var base, junit string
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Hold a running server to the contract, by HTTP alone",
		Long: "Asks for each operation of the document that a server serves, and holds every answer to the contract: errors,\n" +
			"authentication, pages, expand, quota, idempotency, isolation of two accounts. It prints each promise that is broken,\n" +
			"with a request, its answer and the sentence of the contract, and fails then.\n\n" +
			"It makes drafts named Conformance and takes them away again. Nothing is charged, and no account is changed.\n" +
			"With --read-only it makes nothing. It waits where the quota is used up.",
		Example: "  tillwright conformance --base-url https://shop.example.com/v1 --read-only",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&base, "base-url", "", "base URL of the API (default $TILLWRIGHT_BASE_URL or "+sdk.DefaultBaseURL+")")
	cmd.Flags().StringVar(&o.Key, "key", "", "API key with all scopes (default $TILLWRIGHT_API_KEY, which others on this machine cannot see)")
	cmd.Flags().StringVar(&o.SecondKey, "second-key", "", "API key of another account, for isolation (default $TILLWRIGHT_SECOND_API_KEY)")
	cmd.Flags().StringSliceVar(&o.Only, "only", nil, "check these alone: promises or resources, as in --only products,idempotency")
	cmd.Flags().BoolVar(&o.ReadOnly, "read-only", false, "make nothing, and leave out what would be made if a promise is broken")
	cmd.Flags().StringVar(&o.Listen, "listen", "", "address to take webhooks at, host:port; without it they are not checked")
	cmd.Flags().StringVar(&o.Webhooks, "webhook-url", "", "URL at which the server reaches that address, if it has another name there")
	cmd.Flags().StringVar(&junit, "junit", "", "write the outcome to this file for a CI, in the form of JUnit")
	asJSON := cmd.Flags().Bool("json", false, "print the outcome as JSON")
	cmd.MarkFlagsMutuallyExclusive("json", "junit")
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprintf(cmd.OutOrStderr(), "Usage:\n  %s\n\nExample:\n%s\n\nFlags:\n%s", cmd.UseLine(), cmd.Example, cmd.LocalFlags().FlagUsages())
		return err
	})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Key = cmp.Or(o.Key, os.Getenv("TILLWRIGHT_API_KEY"))
		o.SecondKey = cmp.Or(o.SecondKey, os.Getenv("TILLWRIGHT_SECOND_API_KEY"))
		if o.Key == "" {
			return errors.New("which API key? Set TILLWRIGHT_API_KEY, or pass --key; `tillwright keys create` makes one")
		}
		u, err := parseHTTP("base-url", cmp.Or(base, os.Getenv("TILLWRIGHT_BASE_URL"), sdk.DefaultBaseURL))
		if err != nil {
			return err
		}
		if path := strings.Trim(u.Path, "/"); path != "" && path != "v1" {
			return fmt.Errorf("--base-url must be https://host/v1, not %q", u)
		}
		u.Path = ""
		o.URL = u.String()
		o.Progress = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), clock()+"  "+printable(line)) }
		report, err := conformance.Check(cmd.Context(), o)
		if report == nil {
			return err
		}
		return errors.Join(showConformance(cmd.OutOrStdout(), report, *asJSON), writeJUnit(junit, report), err, brokenPromises(report))
	}
	return cmd
}

func brokenPromises(r *conformance.Report) error {
	if n := len(r.Broken()); n > 0 {
		return fmt.Errorf("%d of %d promises are broken", n, len(r.Promises))
	}
	return nil
}

// showConformance prints a report: as JSON, or each broken promise with what broke it, and a line for each other one.
func showConformance(w io.Writer, r *conformance.Report, asJSON bool) error {
	if asJSON {
		return printJSON(w, struct {
			*conformance.Report
			Seconds float64 `json:"seconds"`
		}{r, r.Duration.Seconds()})
	}
	var out strings.Builder
	line := func(format string, values ...any) {
		for text := range strings.SplitSeq(fmt.Sprintf(format, values...), "\n") {
			out.WriteString(printable(text) + "\n")
		}
	}
	for _, p := range r.Promises {
		line("%-11s  %-20s %s", strings.ReplaceAll(string(p.Outcome), "_", " "), p.Name, p.Sentence)
	}
	for _, p := range r.Broken() {
		line("\nBROKEN: %s\n%s (%d times)", p.Name, p.Sentence, p.Breaks)
		for _, b := range p.Broken {
			line("\n  %s: %s", cmp.Or(b.Operation, p.Name), b.Message)
			line("%s", indented("> ", b.Request))
			line("%s", indented("< ", b.Answer))
		}
	}
	for reason, names := range notChecked(r) {
		line("not checked: %s: %s", reason, strings.Join(names, ", "))
	}
	for _, note := range r.Notes {
		line("note: %s", note)
	}
	line("\n%s: %d requests for %d of %d operations in %s", r.URL, r.Requests, r.Asked, r.Operations, r.Duration.Round(100*time.Millisecond))
	_, err := io.WriteString(w, out.String())
	return err
}

// notChecked returns why something could not be asked, with the operations or promises of which that is so.
func notChecked(r *conformance.Report) iter.Seq2[string, []string] {
	concerned := map[string][]string{}
	for _, p := range r.Promises {
		for _, g := range p.NotChecked {
			names := g.Operations
			if len(names) == 0 {
				names = []string{p.Name}
			}
			for _, name := range names {
				if !slices.Contains(concerned[g.Reason], name) {
					concerned[g.Reason] = append(concerned[g.Reason], name)
				}
			}
		}
	}
	return func(yield func(string, []string) bool) {
		for _, reason := range slices.Sorted(maps.Keys(concerned)) {
			if !yield(reason, concerned[reason]) {
				return
			}
		}
	}
}

func indented(mark, text string) string {
	return "  " + mark + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "+mark)
}

// junitSuite is the outcome in the form that CIs read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a report to a file, if one is named.
func writeJUnit(path string, r *conformance.Report) error {
	if path == "" {
		return nil
	}
	suite := junitSuite{Name: "tillwright conformance", Tests: len(r.Promises), Failures: len(r.Broken()), Time: fmt.Sprintf("%.1f", r.Duration.Seconds())}
	for _, p := range r.Promises {
		test := junitCase{Class: "conformance", Name: p.Name}
		switch p.Outcome {
		case conformance.OutcomeBroken:
			var text strings.Builder
			for _, b := range p.Broken {
				fmt.Fprintf(&text, "%s: %s\n%s\n%s\n\n", b.Operation, b.Message, indented("> ", b.Request), indented("< ", b.Answer))
			}
			test.Failure = &junitText{p.Sentence, text.String()}
		case conformance.OutcomeNotChecked:
			suite.Skipped++
			var reasons []string
			for _, g := range p.NotChecked {
				reasons = append(reasons, g.Reason)
			}
			test.Skipped = &junitText{Message: strings.Join(reasons, "; ")}
		case conformance.OutcomeKept:
		}
		suite.Cases = append(suite.Cases, test)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(text, '\n')...), 0o644)
}
