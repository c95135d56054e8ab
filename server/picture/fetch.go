package picture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/picture"
)

const (
	lookEvery = 2 * time.Second  // for pictures that are to be fetched
	patience  = 20 * time.Second // for a server to send one
	atOnce    = 4                // so many accounts have one fetched at the same time
	mostHops  = 3                // from one address to the next
)

// Fetcher fetches pictures, one of each account at a time. Any number of replicas may run one.
type Fetcher struct {
	store    *picture.Store
	client   *http.Client
	log      *slog.Logger
	patience time.Duration
	making   chan struct{} // the place of the one that is decoded
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
	return &Fetcher{store: store, client: &asking, log: log, patience: patience, making: make(chan struct{}, 1)}
}

// Run fetches what is to be fetched until ctx ends.
func (f *Fetcher) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := f.Fetch(ctx); err != nil && ctx.Err() == nil {
			f.log.ErrorContext(ctx, "fetch pictures", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Fetch fetches all pictures that are to be fetched now, in turns: one of each account.
func (f *Fetcher) Fetch(ctx context.Context) error {
	for {
		accounts, err := f.store.Waiting(ctx)
		if err != nil || len(accounts) == 0 {
			return err
		}
		var (
			all  sync.WaitGroup
			mu   sync.Mutex
			did  bool
			errs []error
			free = make(chan struct{}, atOnce)
		)
		for _, account := range accounts {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				one, err := f.one(ctx, account)
				mu.Lock()
				defer mu.Unlock()
				did, errs = did || one, append(errs, err)
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil || !did {
			return err
		}
	}
}

// one fetches a picture of an account, and reports whether there was one to fetch.
func (f *Fetcher) one(ctx context.Context, account string) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	claimed, err := f.store.Claim(ctx, account)
	if err != nil || claimed == nil {
		return false, err
	}
	made, err := f.fetch(ctx, claimed)
	if ctx.Err() != nil { // the server stops: whoever claims it next begins anew
		return false, ctx.Err()
	}
	if err != nil {
		passing := new(passingError)
		return true, f.store.Fail(ctx, claimed, sentence(err), !errors.As(err, passing))
	}
	_, err = f.store.Keep(ctx, claimed, made)
	return true, err
}

// sentence returns what an error says as a sentence for the seller.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// passingError says that a picture cannot be had now, and may be had later.
type passingError struct{ error }

// What is said of an address. A server that is out of reach and one that does not answer are told alike: else an address inside could be probed.
var (
	errPlain   = errors.New("the address does not begin with https://")
	errAway    = errors.New("the address leads on to another one that is not asked for")
	errSilence = passingError{errors.New("its server could not be reached, or did not send the picture in time")}
)

// fetch asks for a picture, and makes its files.
func (f *Fetcher) fetch(ctx context.Context, p *picture.Picture) (*picture.Made, error) {
	if !strings.HasPrefix(p.Address, "https://") {
		return nil, errPlain
	}
	file, err := f.ask(ctx, p.Address)
	if err != nil {
		return nil, err
	}
	select {
	case f.making <- struct{}{}:
		defer func() { <-f.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return Make(file, p.OwnerID == p.AccountID)
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
