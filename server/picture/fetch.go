package picture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/picture"
)

const (
	lookEvery = 2 * time.Second  // for pictures that are to be fetched
	patience  = 20 * time.Second // for a server to send one
	atOnce    = 4                // pictures, of as many accounts
	mostHops  = 3                // from one address to the next
	givingUp  = 5 * time.Second  // for the database, when the server stops

	renewEvery = picture.Lease / 4 // while a picture waits to be decoded
)

// Fetcher fetches pictures, one of each account at a time. Any number of replicas may run one.
type Fetcher struct {
	store  *picture.Store
	client *http.Client
	log    *slog.Logger
	making chan struct{} // the place of the one that is decoded
	turns  *accountTurns

	lookEvery, patience, renewEvery time.Duration
}

// New returns a Fetcher that asks with a client, which decides what addresses it reaches.
func New(store *picture.Store, client *http.Client, log *slog.Logger) *Fetcher {
	asking := *client
	asking.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > mostHops {
			return errAway
		}
		return nil
	}
	return &Fetcher{store: store, client: &asking, log: log, making: make(chan struct{}, 1), turns: newAccountTurns(time.Now), lookEvery: lookEvery, patience: patience, renewEvery: renewEvery}
}

// Run fetches what is to be fetched until ctx ends.
func (f *Fetcher) Run(ctx context.Context) {
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			for wait := time.Duration(i) * f.lookEvery; ; wait = atOnce * f.lookEvery { // one after the other
				select {
				case <-ctx.Done():
					return
				case <-time.After(wait):
				}
				if err := f.work(ctx); err != nil && ctx.Err() == nil {
					f.log.ErrorContext(ctx, "fetch pictures", "error", err)
				}
			}
		})
	}
	all.Wait()
}

// Fetch fetches what is to be fetched now, and returns once nothing is left.
func (f *Fetcher) Fetch(ctx context.Context) error {
	errs := make([]error, atOnce)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f.work(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// work fetches one picture after the other, each of the account whose turn it is, until there is none for it.
func (f *Fetcher) work(ctx context.Context) error {
	var done []string // accounts whose pictures others have
	for ctx.Err() == nil {
		waiting, err := f.store.Waiting(ctx)
		if err != nil {
			return err
		}
		account := f.turns.take(slices.DeleteFunc(waiting, func(one string) bool { return slices.Contains(done, one) }))
		if account == "" {
			return nil
		}
		began := f.turns.now()
		claimed, err := f.store.Claim(ctx, account)
		spent := f.turns.now().Sub(began)
		if claimed != nil {
			var more time.Duration
			more, err = f.one(ctx, claimed)
			spent += more
		} else {
			done = append(done, account)
		}
		f.turns.give(account, spent)
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// one fetches a picture that was claimed, and returns how long that took. Waiting for the place to decode it does not count.
func (f *Fetcher) one(ctx context.Context, claimed *picture.Picture) (spent time.Duration, err error) {
	made, spent, err := f.fetch(ctx, claimed)
	if ctx.Err() != nil { // the server stops: whoever claims it next begins anew, unless it is made already
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), givingUp)
		defer cancel()
		if made == nil {
			return spent, errors.Join(ctx.Err(), f.store.GiveBack(ending, claimed))
		}
		ctx = ending
	}
	if silent := new(silentError); errors.As(err, silent) {
		began := f.turns.now()
		err := f.store.PutOff(ctx, claimed, silent.server, silent.lasts, sentence(errSilence))
		return spent + f.turns.now().Sub(began), err
	}
	if lost := new(lostError); errors.As(err, lost) {
		return spent, lost.cause
	}
	if err != nil {
		passing := new(passingError)
		return spent, f.store.Fail(ctx, claimed, sentence(err), !errors.As(err, passing))
	}
	_, err = f.store.Keep(ctx, claimed, made)
	return spent, err
}

// sentence returns what an error says as a sentence for the seller.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// passingError says that a picture cannot be had now, and may be had later.
type passingError struct{ error }

// silentError says that a server is not asked for so long, since it did not answer lately. What stands there begins with server.
type silentError struct {
	lasts  time.Duration
	server string
}

func (silentError) Error() string { return "the server was silent lately" }

// lostError says that a picture is no longer claimed, or, with a cause, that nobody knows.
type lostError struct{ cause error }

func (lostError) Error() string { return "the picture is no longer claimed" }

// What is said of an address. A server that is out of reach and one that does not answer are told alike: else an address inside could be probed.
var (
	errPlain   = errors.New("the address does not begin with https://")
	errAway    = errors.New("the address leads on to another one that is not asked for")
	errSilence = passingError{errors.New("its server could not be reached, or did not send the picture in time")}
)

// fetch asks for a picture, and makes its files. A server of the account's that was silent a moment ago is not asked.
func (f *Fetcher) fetch(ctx context.Context, p *picture.Picture) (made *picture.Made, spent time.Duration, err error) {
	at, err := url.Parse(p.Address)
	if err != nil || at.Scheme != "https" {
		return nil, 0, errPlain
	}
	if lasts := f.turns.silentFor(p.AccountID, at.Host); lasts > 0 {
		// Those that were asked for come after the others.
		before, _, _ := strings.Cut(p.Address, at.Host)
		return nil, 0, silentError{lasts + time.Duration(p.Attempts-1)*time.Millisecond, before + at.Host + "/"}
	}
	began := f.turns.now()
	file, err := f.ask(ctx, p.Address)
	spent = f.turns.now().Sub(began)
	switch {
	case ctx.Err() != nil:
		return nil, spent, ctx.Err()
	case errors.Is(err, errSilence):
		f.turns.silent(p.AccountID, at.Host)
	default:
		f.turns.answered(p.AccountID, at.Host)
	}
	if err != nil {
		return nil, spent, err
	}
	if err := f.place(ctx, p); err != nil {
		return nil, spent, err
	}
	defer func() { <-f.making }()
	if err := f.renew(ctx, p); err != nil {
		return nil, spent, err
	}
	began = f.turns.now()
	made, err = Make(file, p.OwnerID == p.AccountID)
	return made, spent + f.turns.now().Sub(began), err
}

// place waits for the place to decode a picture, which stays claimed meanwhile. The caller gives the place back.
func (f *Fetcher) place(ctx context.Context, claimed *picture.Picture) error {
	ticker := time.NewTicker(f.renewEvery)
	defer ticker.Stop()
	for {
		select {
		case f.making <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if err := f.renew(ctx, claimed); err != nil {
				return err
			}
		}
	}
}

// renew has a picture stay claimed.
func (f *Fetcher) renew(ctx context.Context, claimed *picture.Picture) error {
	renewed, err := f.store.Renew(ctx, claimed)
	if err != nil || !renewed {
		return lostError{err}
	}
	return nil
}

// ask returns what is at an address, whatever type its server says that it has.
func (f *Fetcher) ask(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	request.Header.Set("Accept", "image/png, image/jpeg, image/webp, image/gif")
	response, err := f.client.Do(request)
	switch {
	case errors.Is(err, errAway):
		return nil, errAway
	case err != nil:
		return nil, errSilence
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return nil, passingError{fmt.Errorf("its server answered %d", status)}
	case status != http.StatusOK:
		return nil, fmt.Errorf("its server answered %d", status)
	}
	file, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err != nil {
		return nil, errSilence
	}
	return file, nil
}
