package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func (s *shop) key(name, request string) *core.Key {
	return &core.Key{Account: s.account, Key: name, Fingerprint: sha256.Sum256([]byte(request)), External: true}
}

// create is a handler that makes a product.
func (s *shop) create(on *Store) func(context.Context) (*core.Answer, error) {
	return func(ctx context.Context) (*core.Answer, error) {
		p, err := on.Catalog.CreateProduct(ctx, s.account, catalog.NewProduct{Product: catalog.Product{Name: "Book"}})
		if err != nil {
			return nil, err
		}
		return &core.Answer{Status: 201, Body: []byte(p.ID)}, nil
	}
}

func (s *shop) products(t *testing.T) int {
	t.Helper()
	return s.count(t, `SELECT count(*) FROM products WHERE account_id = ?`, s.account)
}

func TestRequest_FiftyAtOnceMakeOne(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		replicas := []*Store{s.Store}
		if s.Engine() == core.PostgreSQL {
			replicas = append(replicas, openStore(t, url), openStore(t, url))
		}
		for round := range 5 {
			bodies := make(chan string, 50)
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					on := replicas[i%len(replicas)]
					answer, _, err := on.db.Request(t.Context(), s.key(fmt.Sprint("key ", round), "create"), s.create(on))
					if err == nil {
						bodies <- string(answer.Body)
						return
					}
					dbtest.RequireCode(t, err, core.CodeInProgress)
				})
			}
			all.Wait()
			close(bodies)
			first := <-bodies
			require.NotEmpty(t, first)
			for body := range bodies {
				require.Equal(t, first, body)
			}
			require.Equal(t, round+1, s.products(t))
			require.Equal(t, round+1, s.count(t, `SELECT count(*) FROM events WHERE account_id = ?`, s.account))
		}
	})
}

func TestRequest_ReplaysTheFirstAnswer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		first, replayed, err := s.db.Request(t.Context(), s.key("k", "create"), s.create(s.Store))
		require.NoError(t, err)
		require.False(t, replayed)
		second, replayed, err := s.db.Request(t.Context(), s.key("k", "create"), s.create(s.Store))
		require.NoError(t, err)
		require.True(t, replayed)
		require.Equal(t, first, second)
		require.Equal(t, 1, s.products(t))

		_, _, err = s.db.Request(t.Context(), s.key("k", "something else"), s.create(s.Store))
		dbtest.RequireCode(t, err, core.CodeKeyReused)
		require.Zero(t, s.count(t, `SELECT count(*) FROM idempotency_keys WHERE body = ?`, first.Body), "answers are sealed")

		s.db.Options.Now = func() time.Time { return time.Now().Add(db.KeyLifetime + time.Minute) }
		_, replayed, err = s.db.Request(t.Context(), s.key("k", "something else"), s.create(s.Store))
		require.NoError(t, err)
		require.False(t, replayed)
		require.Equal(t, 2, s.products(t))
	})
}

func TestRequest_ReplaysToManyAtOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		first, _, err := s.db.Request(t.Context(), s.key("k", "create"), s.create(s.Store))
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				again, replayed, err := s.db.Request(t.Context(), s.key("k", "create"), s.create(s.Store))
				assert.NoError(t, err)
				assert.True(t, replayed)
				assert.Equal(t, first, again)
			})
		}
		wg.Wait()
		_, _, err = s.db.Request(t.Context(), s.key("k", "another"), s.create(s.Store))
		dbtest.RequireCode(t, err, core.CodeKeyReused)
	})
}

func TestRequest_WithoutKeyCommits(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, replayed, err := s.db.Request(t.Context(), nil, s.create(s.Store))
		require.NoError(t, err)
		require.False(t, replayed)
		require.Equal(t, 1, s.products(t))
	})
}

func TestRequest_WhatFreesTheKey(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		broken := errors.New("disk on fire")
		for name, end := range map[string]func(ctx context.Context) (*core.Answer, error){
			"refused":  func(context.Context) (*core.Answer, error) { return nil, core.Invalid("name", "no") },
			"broken":   func(context.Context) (*core.Answer, error) { return nil, broken },
			"not 2xx":  func(context.Context) (*core.Answer, error) { return &core.Answer{Status: 404}, nil },
			"panicked": func(context.Context) (*core.Answer, error) { panic("on purpose") },
		} {
			func() {
				defer func() { _ = recover() }()
				_, _, err := s.db.Request(t.Context(), s.key(name, "create"), func(ctx context.Context) (*core.Answer, error) {
					_, err := s.create(s.Store)(ctx)
					require.NoError(t, err)
					return end(ctx)
				})
				require.Equal(t, name == "not 2xx", err == nil)
			}()
			require.Zero(t, s.products(t), name)
			require.Zero(t, s.count(t, `SELECT count(*) FROM events`), name)
			_, replayed, err := s.db.Request(t.Context(), s.key(name, "corrected"), func(context.Context) (*core.Answer, error) { return &core.Answer{Status: 200}, nil })
			require.NoError(t, err, name)
			require.False(t, replayed, name)
		}
	})
}

func TestRequest_FailedUseCaseDoomsTheRequest(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, _, err := s.db.Request(t.Context(), s.key("k", "create"), func(ctx context.Context) (*core.Answer, error) {
			_, err := s.create(s.Store)(ctx)
			require.NoError(t, err)
			_, dropped := s.Catalog.PublishProduct(ctx, s.account, "book")
			require.Error(t, dropped)
			return &core.Answer{Status: 200}, nil
		})
		dbtest.RequireInvalid(t, err, "status")
		require.Zero(t, s.products(t))
	})
}

func TestRequest_RecordedErrorIsAnAnswer(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		declined := func(ctx context.Context) (*core.Answer, error) {
			_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				_, err := s.Catalog.CreateProduct(ctx, s.account, catalog.NewProduct{Product: catalog.Product{Name: "Book"}})
				require.NoError(t, err)
				return nil, &core.Error{Code: core.CodeInvalid, Message: "declined", Outcome: core.Recorded}
			})
			return &core.Answer{Status: 422, Body: []byte("declined")}, err
		}
		for _, want := range []bool{false, true} {
			answer, replayed, err := s.db.Request(t.Context(), s.key("k", "pay"), declined)
			require.NoError(t, err)
			require.Equal(t, want, replayed)
			require.Equal(t, &core.Answer{Status: 422, Body: []byte("declined")}, answer)
		}
		require.Equal(t, 1, s.products(t))
	})
}

// external is a handler that commits an intent, calls outside and then ends as it is told.
func (s *shop) external(on *Store, effects *[]string, end func(ctx context.Context) (*core.Answer, error)) func(context.Context) (*core.Answer, error) {
	return func(ctx context.Context) (*core.Answer, error) {
		effect, err := db.Step(ctx, on.db, func(ctx context.Context, u *db.Unit) (string, error) { return on.db.Effect(ctx), nil })
		if err != nil {
			return nil, err
		}
		if db.InTx(ctx) {
			return nil, errors.New("the call outside happens inside a transaction")
		}
		*effects = append(*effects, effect)
		return end(ctx)
	}
}

func TestRequest_AfterAStep(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for name, test := range map[string]struct {
			end  error
			kept bool
		}{
			"unknown": {&core.Error{Message: "no answer", Outcome: core.Unknown}, true},
			"broken":  {errors.New("disk on fire"), true},
			"refused": {core.Invalid("name", "no"), false},
		} {
			var effects []string
			_, _, err := s.db.Request(t.Context(), s.key(name, "pay"), s.external(s.Store, &effects, func(context.Context) (*core.Answer, error) { return nil, test.end }))
			require.ErrorIs(t, err, test.end, name)
			if test.kept {
				_, _, err = s.db.Request(t.Context(), s.key(name, "another body"), s.create(s.Store))
				dbtest.RequireCode(t, err, core.CodeKeyReused)
			}
			answer, replayed, err := s.db.Request(t.Context(), s.key(name, "pay"), s.external(s.Store, &effects, func(ctx context.Context) (*core.Answer, error) {
				return s.create(s.Store)(ctx)
			}))
			require.NoError(t, err, name)
			require.False(t, replayed, name)
			require.Equal(t, test.kept, effects[0] == effects[1], name)
			again, replayed, err := s.db.Request(t.Context(), s.key(name, "pay"), s.create(s.Store))
			require.NoError(t, err, name)
			require.True(t, replayed, name)
			require.Equal(t, answer, again, name)
		}
		require.Equal(t, 3, s.products(t))
	})
}

// endLeases lets every claim be taken over, as time does.
func endLeases(t *testing.T, s *Store) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE idempotency_keys SET lease_until = 0`)
	})
	require.NoError(t, err)
}

func TestRequest_LeaseIsTakenOver(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		late := openStore(t, url)
		var effects []string
		_, _, err := s.db.Request(t.Context(), s.key("k", "pay"), s.external(s.Store, &effects, func(ctx context.Context) (*core.Answer, error) {
			_, _, err := late.db.Request(t.Context(), s.key("k", "pay"), s.create(late))
			dbtest.RequireCode(t, err, core.CodeInProgress)

			endLeases(t, late)
			_, replayed, err := late.db.Request(t.Context(), s.key("k", "pay"), s.external(late, &effects, s.create(late)))
			require.NoError(t, err)
			require.False(t, replayed)
			return s.create(s.Store)(ctx)
		}))
		dbtest.RequireCode(t, err, core.CodeInProgress)
		require.Len(t, effects, 2)
		require.Equal(t, effects[0], effects[1])
		require.Equal(t, 1, s.products(t), "the first one's change is rolled back")
	})
}

func TestRequest_KeepsSoMuchForAnAccount(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		body := make([]byte, 1<<20)
		large := func(name string, change func(*core.Key)) error {
			key := s.key(name, "create")
			key.External = false
			change(key)
			_, _, err := s.db.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
				answer, err := s.create(s.Store)(ctx)
				if err == nil {
					answer.Body = body
				}
				return answer, err
			})
			return err
		}
		own := func(*core.Key) {}
		require.NoError(t, large("first", own))
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) { // as many as there is room for but one
			return u.Exec(ctx, `UPDATE idempotency_keys SET size = ? WHERE account_id = ?`, db.MostKept-len(body), s.account)
		})
		require.NoError(t, err)
		require.NoError(t, large("the last that fits", own))
		before := s.products(t)
		err = large("one too many", own)
		dbtest.RequireCode(t, err, core.CodeRateLimit)
		var e *core.Error
		require.ErrorAs(t, err, &e)
		require.InDelta(t, db.KeyLifetime, e.After, float64(time.Hour))
		require.Equal(t, before, s.products(t), "nothing was changed")
		require.NoError(t, large("the last that fits", own), "what is kept is replayed")
		require.NoError(t, large("a stranger's", func(k *core.Key) { k.Keyless = true }))
		require.NoError(t, large("of what was sent", func(k *core.Key) { k.Sent = len(body) / 4 }))
		require.NoError(t, large("done outside", func(k *core.Key) { k.External = true }))
		_, _, err = s.db.Request(t.Context(), s.key("small", "create"), s.create(s.Store))
		require.NoError(t, err)
		s.db.Options.Now = func() time.Time { return time.Now().Add(db.KeyLifetime + time.Minute) }
		require.NoError(t, large("one too many", own), "a day later")
	})
}

func TestDeleteExpiredKeys(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for i := range 5 {
			_, _, err := s.db.Request(t.Context(), s.key(fmt.Sprint(i), "create"), s.create(s.Store))
			require.NoError(t, err)
		}
		deleted, err := s.db.DeleteExpiredKeys(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, deleted)
		s.db.Options.Now = func() time.Time { return time.Now().Add(db.KeyLifetime + time.Minute) }
		for _, want := range []int64{3, 2, 0} {
			deleted, err := s.db.DeleteExpiredKeys(t.Context(), 3)
			require.NoError(t, err)
			require.Equal(t, want, deleted)
		}
	})
}

func TestOpen_ExclusiveAbandonsClaims(t *testing.T) {
	t.Parallel()
	url := database.URL(t, core.SQLite)
	s := newShop(t, url)
	var effects []string
	dead := make(chan struct{})
	go func() { // a request that its process does not survive
		defer close(dead)
		_, _, _ = s.db.Request(t.Context(), s.key("k", "pay"), s.external(s.Store, &effects, func(context.Context) (*core.Answer, error) {
			next, err := Open(t.Context(), Options{URL: url, Sealer: s.db.Options.Sealer, Exclusive: true, Render: renderJSON})
			require.NoError(t, err)
			defer next.Close()
			_, err = Open(t.Context(), Options{URL: url, Sealer: s.db.Options.Sealer, Exclusive: true})
			require.ErrorContains(t, err, "another process serves this database")
			_, replayed, err := next.db.Request(t.Context(), s.key("k", "pay"), s.create(next))
			require.NoError(t, err)
			require.False(t, replayed)
			return nil, errors.New("killed")
		}))
	}()
	<-dead
	require.Equal(t, 1, s.products(t))
}

func TestStep_NeedsADeclaredEffect(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		key := s.key("k", "pay")
		key.External = false
		var effects []string
		_, _, err := s.db.Request(t.Context(), key, s.external(s.Store, &effects, s.create(s.Store)))
		require.ErrorContains(t, err, "declares no external effect")
		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
			return db.Step(ctx, s.db, func(context.Context, *db.Unit) (any, error) { return nil, nil })
		})
		require.ErrorContains(t, err, "inside a use case")
	})
}
