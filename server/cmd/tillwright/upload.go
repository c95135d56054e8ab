package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/advert"
)

const uploadHelp = `Adds the people of a CSV file to a customer list. The first line names the columns: email, phone, email_sha256,
phone_sha256, at least one of them; the other columns are not sent. Addresses and numbers are hashed on this machine, in the
form that the audience's network asks for, so that only hashes leave it.

An upload that was interrupted goes on where it stopped when the same command is given again: what it needs to know lies beside
the file until then. The summary names the lines of rows that cannot be used.`

// rowsPerRequest is how many people the server takes in one request.
const rowsPerRequest = 10_000

// uploadAudienceCommand returns the command that adds the people of a CSV file to an audience.
func uploadAudienceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "upload AUDIENCE FILE.csv",
		Short:   "Add the people of a CSV file to an audience",
		Long:    uploadHelp,
		Example: "  tillwright ads upload aud_... customers.csv",
		Args:    cobra.ExactArgs(2),
	}
	api := clientCommand(cmd, "ads")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := api.adsClient()
		if err != nil {
			return err
		}
		summary, err := client.upload(cmd.Context(), args[0], args[1], rowsPerRequest, newUploadMeter(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		return errors.Join(summary.print(cmd, *asJSON), summary.failure())
	}
	return cmd
}

// failure returns an error if no row of the file can be used.
func (s *uploadSummary) failure() error {
	if s.Received > 0 && s.Invalid == s.Received {
		return errors.New("none of the rows can be used")
	}
	return nil
}

// upload uploads a file, from where an earlier run of it has stopped.
func (c *apiClient) upload(ctx context.Context, id, path string, perRequest int, meter *uploadMeter) (*uploadSummary, error) {
	audience, err := c.customerList(ctx, id)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := readUsers(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	progress, err := openProgress(file, audience.ID)
	if err != nil {
		return nil, err
	}
	if len(rows.Unused) > 0 {
		meter.note("Not sent: %s", strings.Join(rows.Unused, ", "))
	}
	meter.start(progress.Size, progress.Rows)
	err = c.uploadRows(ctx, audience, rows, progress, perRequest, meter)
	meter.clear()
	if err != nil {
		meter.note("Uploaded so far: %s rows. The same command goes on after them.", grouped(int64(progress.Rows)))
		return nil, err
	}
	if audience, err = c.AdAudiences.Get(ctx, audience.ID); err != nil {
		return nil, c.explain(err)
	}
	return summarize(audience, progress.Counts), progress.finish()
}

// customerList returns the audience, and refuses one that people cannot be added to.
func (c *apiClient) customerList(ctx context.Context, id string) (*sdk.AdAudience, error) {
	audience, err := c.AdAudiences.Get(ctx, id)
	if err != nil {
		return nil, c.explain(err)
	}
	if audience.Type != sdk.AdAudienceTypeCustomerList {
		return nil, fmt.Errorf("%s is of type %s: people can be added to a customer_list only", audience.ID, audience.Type)
	}
	return audience, nil
}

// uploadRows sends one chunk after the other, and notes each in the progress file before it sends the next.
func (c *apiClient) uploadRows(ctx context.Context, a *sdk.AdAudience, rows *userRows, progress *uploadProgress, perRequest int, meter *uploadMeter) error {
	for range progress.Rows {
		if _, err := rows.next(); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		chunk, err := nextChunk(rows, ads.CapsOf(advert.Platform(a.Platform)), perRequest)
		if err != nil || chunk.rows == 0 {
			return err
		}
		if err := c.send(ctx, a.ID, chunk, progress); err != nil {
			return err
		}
		if err := progress.answered(chunk); err != nil {
			return err
		}
		meter.show(progress.Rows, rows.csv.InputOffset())
	}
	return c.explain(ctx.Err())
}

// send uploads a chunk, unless there is nobody in it. The Idempotency-Key stays the same until it is known what became of the
// request. A request that was refused may be sent with another key once the reason is gone.
func (c *apiClient) send(ctx context.Context, audience string, chunk *chunk, progress *uploadProgress) error {
	if len(chunk.send) == 0 {
		return nil
	}
	result, err := c.AdAudiences.UploadUsers(ctx, audience, &sdk.AdAudienceUsers{Users: chunk.send}, sdk.WithIdempotencyKey(progress.Key))
	if err == nil {
		chunk.answer(result)
		return nil
	}
	if isRefused(err) {
		return errors.Join(c.explain(err), progress.proceed())
	}
	return c.explain(err)
}

// isRefused reports whether a request certainly had no effect.
func isRefused(err error) bool {
	refusal, ok := errors.AsType[*sdk.Error](err)
	return ok && refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusTooManyRequests && refusal.Code != sdk.CodeRequestInProgress
}
