package handlers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// TestKinds_AreWhateverTheSpecificationPointsAt: a reference that nothing loads would be found out by the first request.
func TestKinds_AreWhateverTheSpecificationPointsAt(t *testing.T) {
	t.Parallel()
	loaded := map[string]bool{}
	for prefix, k := range kindsOf(&store.Store{}) {
		require.Equal(t, k.name.Prefix(), prefix)
		loaded[k.schema] = true
	}
	files, err := filepath.Glob("../../openapi/resources/*.yaml")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`x-expandable: *(\w+)`).FindAllStringSubmatch(string(text), -1) {
			named[found[1]] = true
		}
	}
	require.Greater(t, len(named), 10)
	require.Equal(t, named, loaded)
}

func TestExpand_OfAKindThatNobodyLoadsIsAnError(t *testing.T) {
	t.Parallel()
	h := &Handlers{kinds: kindsOf(&store.Store{})}
	for _, id := range []string{"exp_01k0000000000000000000000a", "nothing"} {
		require.ErrorContains(t, h.expand(context.Background(), []string{"owner"}, []any{&many{[]wire.Reference{id}}}), "nothing loads what begins with")
	}
}

// many is an object whose fields all hold the same references.
type many struct{ references []wire.Reference }

func (m *many) References(_ string, yield func(*wire.Reference)) {
	for i := range m.references {
		yield(&m.references[i])
	}
}

// thing is an object that refers to another.
type thing struct {
	ID    string         `json:"id"`
	Other wire.Reference `json:"other"`
}

func (o *thing) References(_ string, yield func(*wire.Reference)) { yield(&o.Other) }

// TestExpand_LoadsWhatStandsInItOftenOnce has a thousand references to three objects.
func TestExpand_LoadsWhatStandsInItOftenOnce(t *testing.T) {
	t.Parallel()
	type row struct{ id string }
	loads, rendered := map[string]int{}, map[string]int{}
	name := strings.Repeat("x", 2000)
	k := kindOf(core.KindProduct,
		func(_ context.Context, _ string, ids []string) (map[string]*row, error) {
			found := map[string]*row{}
			for _, id := range ids {
				loads[id]++
				found[id] = &row{id}
			}
			return found, nil
		},
		func(r *row) thing { rendered[r.id]++; return thing{r.id + name, "prod_c"} })
	h := &Handlers{kinds: map[string]kind{"prod_": k}}
	expand := func(n int, paths ...string) ([]wire.Reference, error) {
		references := make([]wire.Reference, n)
		for i := range references {
			references[i] = wire.Reference([]string{"prod_a", "prod_b"}[i%2])
		}
		return references, h.expand(context.Background(), paths, []any{&many{references}})
	}
	references, err := expand(1000, "first", "first.second")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"prod_a": 1, "prod_b": 1, "prod_c": 1}, loads)
	require.Equal(t, loads, rendered)
	require.Same(t, references[0], references[998])
	require.Equal(t, "prod_c"+name, references[1].(*thing).Other.(*thing).ID)

	_, err = expand(3000, "first")
	require.NoError(t, err, "6 MB")
	_, err = expand(3000, "first", "first.second")
	require.ErrorIs(t, err, errTooLarge, "12 MB")
	references, err = expand(5000, "first")
	require.ErrorIs(t, err, errTooLarge, "10 MB")
	require.Equal(t, wire.Reference("prod_a"), references[0], "nothing was built")
}

// TestExpand_LoadsNoMoreThanFits has a thousand references to as many objects, of which a hundred are loaded to see how large they are.
func TestExpand_LoadsNoMoreThanFits(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int{1000: 1000, 20_000: 450, 200_000: firstBatch} {
		loaded := 0
		k := kindOf(core.KindProduct,
			func(_ context.Context, _ string, ids []string) (map[string]*string, error) {
				found := map[string]*string{}
				for _, id := range ids {
					loaded++
					found[id] = &id
				}
				return found, nil
			},
			func(*string) string { return strings.Repeat("x", size) })
		h := &Handlers{kinds: map[string]kind{"prod_": k}}
		references := make([]wire.Reference, 1000)
		for i := range references {
			references[i] = fmt.Sprint("prod_", i)
		}
		err := h.expand(context.Background(), []string{"first"}, []any{&many{references}})
		require.Equal(t, size > 8000, errors.Is(err, errTooLarge), size)
		require.LessOrEqual(t, loaded, most, size)
	}
}
