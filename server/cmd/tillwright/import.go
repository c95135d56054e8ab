package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/server/cmd/tillwright/platform"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
)

const importHelp = `Makes or changes an object for each row of a CSV file, or for each line of JSON of a .jsonl file. The columns are the fields of
the API, as in POST /%[1]s: name, billing_address.country, metadata.source, price_variants.0.amount. An empty cell is not sent. Several values of
a list are separated by commas. A column that the API does not have stops the import before its first row, and so does text that is
neither UTF-8 nor UTF-16 with a byte order mark.

%[2]s

Rows that fail are written to a file beside it, people.errors.csv of people.csv, as they came, with the reason in the column error: once they are right they can be imported
from there. Of a row that cannot be read, because of a quote, each line fails as a row. An import that was cut off goes on where it stopped when the same command is given
again; a file that is imported already changes nothing.`

const fromHelp = `With --from a CSV file is imported as another platform hands it out. Columns for which the API has no field are left out, and named. Consent is
taken over where the platform says that it was given, and in the place of nothing that somebody said here. The platforms, and where their columns are described:
`

// rowsPerImport is how many rows are imported in one transaction.
const rowsPerImport = 500

func importCommand(settings *settings) *cobra.Command {
	cmd := groupCommand("import", "Import customers, products, leads or licence keys from a file")
	for _, kind := range importKinds {
		cmd.AddCommand(importKindCommand(settings, kind))
	}
	return cmd
}

func importKindCommand(settings *settings, kind importKind) *cobra.Command {
	cmd := &cobra.Command{
		Use:     kind.name + " FILE --account ACCOUNT",
		Short:   "Import " + strings.ReplaceAll(kind.name, "_", " ") + " from a CSV or JSONL file",
		Long:    fmt.Sprintf(importHelp, kind.name, kind.finds),
		Example: "  tillwright import " + kind.name + " " + kind.name + ".csv --account acct_...",
		Args:    cobra.ExactArgs(1),
	}
	account, asJSON := accountFlag(cmd), jsonFlag(cmd)
	trial := cmd.Flags().Bool("dry-run", false, "say what would become of each row by itself, and change nothing")
	form := formFlags(cmd, kind)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := form()
		if err != nil {
			return err
		}
		return withStore(cmd.Context(), settings, func(ctx context.Context, s *store.Store) error {
			i := &importer{store: s, kind: kind, form: form, path: args[0], trial: *trial, meter: newUploadMeter(cmd.ErrOrStderr())}
			done, err := i.run(activity.As(ctx, activity.Actor{Type: activity.ActorCLI}), *account)
			i.meter.clear()
			if err != nil {
				return err
			}
			return errors.Join(printImport(cmd, *asJSON, done, i.leftOut()), i.failure(done))
		})
	}
	return cmd
}

// importForm is the form of a file that another platform hands out; the zero value is our own.
type importForm struct {
	platform *platform.Form
	currency string
}

// formFlags adds the flags that say the form of a file, to a kind of which some are known.
func formFlags(cmd *cobra.Command, kind importKind) func() (importForm, error) {
	known := platform.Of(kind.name)
	if len(known) == 0 {
		return func() (importForm, error) { return importForm{}, nil }
	}
	var names []string
	cmd.Long += "\n\n" + fromHelp
	for _, p := range known {
		names = append(names, p.Name)
		cmd.Long += fmt.Sprintf("\n  --from %-13s %s", p.Name, p.Source)
	}
	from := cmd.Flags().String("from", "", "the platform that handed out the file: "+strings.Join(names, ", "))
	currency := new(string)
	if slices.ContainsFunc(known, (*platform.Form).TakesMoney) {
		currency = cmd.Flags().String("currency", "", "the currency of a platform's amounts, such as usd")
	}
	return func() (importForm, error) {
		if *from == "" {
			return importForm{}, nil
		}
		p, err := platform.Find(*from, kind.name)
		if err != nil {
			return importForm{}, err
		}
		code := strings.ToLower(*currency)
		if _, known := core.LookupCurrency(code); p.TakesMoney() && !known {
			return importForm{}, fmt.Errorf("the file of %s does not say its currency: --currency usd, for example", p.Name)
		}
		return importForm{p, code}, nil
	}
}

// importSummary says what became of the rows of a whole file, with the API's way of naming.
type importSummary struct {
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Unchanged int64 `json:"unchanged"`
	Failed    int64 `json:"failed"`

	LeftOut []string `json:"left_out,omitempty"` // columns of another platform for which there is no field
}

func printImport(cmd *cobra.Command, asJSON bool, done *store.Import, leftOut []string) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), importSummary{done.Created, done.Updated, done.Unchanged, done.Failed, leftOut})
	}
	if len(leftOut) > 0 {
		cmd.Printf("left out   %s\n", strings.Join(leftOut, ", "))
	}
	cmd.Printf("created    %s\nupdated    %s\nunchanged  %s\nfailed     %s\n", grouped(done.Created), grouped(done.Updated), grouped(done.Unchanged), grouped(done.Failed))
	return nil
}

// importer imports one file.
type importer struct {
	store *store.Store
	kind  importKind
	form  importForm
	path  string
	trial bool
	meter *uploadMeter

	rows   *importRows
	errors *os.File
}

// leftOut returns the columns of the file for which there is no field.
func (i *importer) leftOut() []string {
	if i.form.platform == nil {
		return nil
	}
	return slices.DeleteFunc(i.form.platform.LeftOut(i.rows.header), func(name string) bool { return name == reasonColumn })
}

// name says what the file holds, and how it is read: the same bytes, read otherwise, are another import.
func (i *importer) name() string {
	if i.form.platform == nil {
		return i.kind.name
	}
	return strings.TrimSuffix(i.kind.name+"."+i.form.platform.Name+"."+i.form.currency, ".")
}

// errorPath returns where the rows that fail are written to.
func (i *importer) errorPath() string {
	kind := filepath.Ext(i.path)
	return strings.TrimSuffix(i.path, kind) + ".errors" + kind
}

func (i *importer) failure(done *store.Import) error {
	switch {
	case done.Failed == 0:
		return nil
	case i.trial:
		return fmt.Errorf("%s of the rows would fail", grouped(done.Failed))
	}
	return fmt.Errorf("%s of the rows failed: %s has them, with the reasons", grouped(done.Failed), i.errorPath())
}

// run imports what is left of the file, and returns what became of all of it.
func (i *importer) run(ctx context.Context, account string) (*store.Import, error) {
	file, err := os.Open(i.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, hash, err := hashText(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.path, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	done, err := i.store.GetImport(ctx, account, fmt.Sprintf("%s:%x", i.name(), hash))
	if err != nil {
		return nil, err
	}
	if i.trial {
		done = &store.Import{AccountID: done.AccountID, ID: done.ID}
	}
	if i.rows, err = readImport(file, i.path, i.kind, i.form); err != nil {
		return nil, fmt.Errorf("%s: %w", i.path, err)
	}
	for range done.Rows {
		if _, err := i.rows.next(); err != nil {
			return nil, fmt.Errorf("%s: %w", i.path, err)
		}
	}
	if err := i.openErrors(done.ErrorBytes); err != nil {
		return nil, err
	}
	i.meter.start(size, int(done.Rows))
	return i.all(ctx, done)
}

// openErrors opens the file of the failed rows, and takes away what a run wrote whose rows were not stored. A trial has none.
func (i *importer) openErrors(length int64) (err error) {
	if i.trial {
		return nil
	}
	if length == 0 {
		return os.RemoveAll(i.errorPath())
	}
	if i.errors, err = os.OpenFile(i.errorPath(), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := i.errors.Truncate(length); err != nil {
		return err
	}
	_, err = i.errors.Seek(length, io.SeekStart)
	return err
}

// all imports the rows that are left, so many at a time.
func (i *importer) all(ctx context.Context, done *store.Import) (*store.Import, error) {
	for ctx.Err() == nil {
		batch, err := i.rows.batch(rowsPerImport)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.path, err)
		}
		if len(batch) == 0 {
			return done, nil
		}
		if done, err = i.batch(ctx, done, batch); err != nil {
			return nil, err
		}
		i.meter.show(int(done.Rows), i.rows.offset())
	}
	return nil, fmt.Errorf("stopped after %s rows; the same command goes on after them", grouped(done.Rows))
}

// batch imports rows in one transaction, or, if one of them fails, each in its own.
func (i *importer) batch(ctx context.Context, done *store.Import, batch []importRow) (*store.Import, error) {
	next, err := i.apply(ctx, done, batch)
	if err == nil || !isOfRow(err) {
		return next, err
	}
	for _, row := range batch {
		next, err := i.apply(ctx, done, []importRow{row})
		if isOfRow(err) {
			next, err = i.fail(ctx, done, row, err)
		}
		if err != nil {
			return nil, err
		}
		done = next
	}
	return done, nil
}

// isOfRow reports whether an error says what is wrong with a row.
func isOfRow(err error) bool {
	var refusal *core.Error
	return errors.As(err, &refusal)
}

// apply makes or changes the objects of rows, and stores how far the file is then.
func (i *importer) apply(ctx context.Context, done *store.Import, rows []importRow) (*store.Import, error) {
	return i.store.ImportRows(ctx, i.trial, func(ctx context.Context) (*store.Import, error) {
		next := *done
		for _, row := range rows {
			if row.problem != nil {
				return nil, row.problem
			}
			outcome, err := i.kind.put(ctx, i.store, done.AccountID, row.body)
			if err != nil && !isOfRow(err) {
				return nil, fmt.Errorf("%s: the row in line %d: %w", i.path, row.at, err)
			}
			if err != nil {
				return nil, err
			}
			next.Rows++
			switch outcome {
			case importCreated:
				next.Created++
			case importUpdated:
				next.Updated++
			case importUnchanged:
				next.Unchanged++
			}
		}
		return &next, nil
	})
}

// fail writes a row to the file of those that failed, and then stores that it is done.
func (i *importer) fail(ctx context.Context, done *store.Import, row importRow, reason error) (*store.Import, error) {
	next := *done
	next.Rows, next.Failed = next.Rows+1, next.Failed+1
	if !i.trial {
		text, err := i.rows.failed(row, strings.ReplaceAll(explain(reason), "\n            ", " "), done.ErrorBytes == 0)
		if err != nil {
			return nil, err
		}
		if i.errors == nil {
			if i.errors, err = os.OpenFile(i.errorPath(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
				return nil, err
			}
		}
		if _, err := i.errors.Write(text); err != nil {
			return nil, err
		}
		if err := i.errors.Sync(); err != nil {
			return nil, err
		}
		next.ErrorBytes += int64(len(text))
	}
	return i.store.ImportRows(ctx, i.trial, func(context.Context) (*store.Import, error) {
		again := next
		return &again, nil
	})
}
