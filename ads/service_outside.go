package ads

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

// How long a call may take, whatever its driver thinks. All that a request calls stays below the minute for which its
// key and its actions are leased.
const (
	readTimeout  = 15 * time.Second
	writeTimeout = 25 * time.Second
)

// UndoTime is how long a driver's Create may go on to remove what it made, though the time for the call is used up.
// With a Find before it that is still less than the minute.
const UndoTime = 15 * time.Second

// outside wraps a network so that each call has a deadline. A call inside a database transaction panics. It would hold
// locks for as long as another company takes to answer, and could not be undone with the transaction.
type outside struct{ network Network }

// leave returns a context with a deadline for a call to a network. It panics inside a database transaction.
func leave(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if advert.InTx(ctx) {
		panic("ads: network called inside a transaction")
	}
	return context.WithTimeout(ctx, timeout)
}

// Check implements Checker. A network that is none refuses nothing that Caps allow.
func (o outside) Check(p Plan) error {
	if checker, ok := o.network.(Checker); ok {
		return checker.Check(p)
	}
	return nil
}

func (o outside) Caps() Caps { return o.network.Caps() }

func (o outside) Target(t Targeting, own advert.Object) (advert.Object, error) {
	return o.network.Target(t, own)
}

func (o outside) Beneficiaries(ctx context.Context, c Conn, adAccount string) ([]string, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Beneficiaries(ctx, c, adAccount)
}

func (o outside) AdAccounts(ctx context.Context, c Conn) ([]advert.Account, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.AdAccounts(ctx, c)
}

func (o outside) BusinessCenters(ctx context.Context, c Conn) ([]advert.BusinessCenter, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.BusinessCenters(ctx, c)
}

func (o outside) Posts(ctx context.Context, c Conn) ([]advert.SocialPost, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Posts(ctx, c)
}

func (o outside) Sync(ctx context.Context, c Conn, adAccount, cursor string) (advert.Batch, string, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Sync(ctx, c, adAccount, cursor)
}

func (o outside) Report(ctx context.Context, c Conn, adAccount string, level advert.Level, ids []string, from, to Date) (map[string]Report, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Report(ctx, c, adAccount, level, ids, from, to)
}

func (o outside) Series(ctx context.Context, c Conn, adAccount string, q SeriesQuery) ([]PeriodFigures, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Series(ctx, c, adAccount, q)
}

func (o outside) UploadVideo(ctx context.Context, c Conn, adAccount, address string) (string, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.UploadVideo(ctx, c, adAccount, address)
}

func (o outside) VideoReady(ctx context.Context, c Conn, adAccount, id string) (bool, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.VideoReady(ctx, c, adAccount, id)
}

func (o outside) Shows(ctx context.Context, c Conn, ref Ref, token string) (bool, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Shows(ctx, c, ref, token)
}

func (o outside) Create(ctx context.Context, c Conn, p Plan) (Created, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.Create(ctx, c, p)
}

func (o outside) Find(ctx context.Context, c Conn, adAccount, token string) (Created, bool, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Find(ctx, c, adAccount, token)
}

func (o outside) TidyNames(ctx context.Context, c Conn, adAccount string, made []MadeName) error {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.TidyNames(ctx, c, adAccount, made)
}

func (o outside) SetStatus(ctx context.Context, c Conn, refs []Ref, to advert.Configured) ([]ItemResult, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.SetStatus(ctx, c, refs, to)
}

func (o outside) Update(ctx context.Context, c Conn, r Ref, p Patch) (Entity, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.Update(ctx, c, r, p)
}

func (o outside) Delete(ctx context.Context, c Conn, r Ref) (Deleted, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.Delete(ctx, c, r)
}

func (o outside) CreateAudience(ctx context.Context, c Conn, p AudiencePlan) (advert.Audience, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.CreateAudience(ctx, c, p)
}

func (o outside) Audience(ctx context.Context, c Conn, adAccount, id string) (advert.Audience, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Audience(ctx, c, adAccount, id)
}

func (o outside) Audiences(ctx context.Context, c Conn, adAccount string) ([]advert.Audience, error) {
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return o.network.Audiences(ctx, c, adAccount)
}

func (o outside) DeleteAudience(ctx context.Context, c Conn, adAccount, id string) error {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.DeleteAudience(ctx, c, adAccount, id)
}

func (o outside) UploadUsers(ctx context.Context, c Conn, u Upload) (Uploaded, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.UploadUsers(ctx, c, u)
}

func (o outside) RemoveUsers(ctx context.Context, c Conn, u Upload) (advert.Audience, error) {
	ctx, cancel := leave(ctx, writeTimeout)
	defer cancel()
	return o.network.RemoveUsers(ctx, c, u)
}
