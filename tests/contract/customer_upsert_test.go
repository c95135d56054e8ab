package contract

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/oapi-codegen/nullable"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestUpsertCustomer_MakesOneForManyAtOnceAndThenChangesIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		_, err := c.Customers.Upsert(background, &sdk.CustomerUpsert{ExternalID: "user-1"})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "email")
		_, err = c.Customers.Upsert(background, &sdk.CustomerUpsert{ExternalID: "..", Email: new("dots@example.com")})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "external_id")
		var mu sync.Mutex
		var all sync.WaitGroup
		ids := map[string]int{}
		for i := range 30 {
			all.Go(func() {
				made, err := c.Customers.Upsert(background, &sdk.CustomerUpsert{ExternalID: "user-1", Email: new("ada@example.com"), Name: nullable.NewNullableWithValue(fmt.Sprint("Caller ", i))})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				ids[made.ID]++
			})
		}
		all.Wait()
		changed := ok[*sdk.Customer](t)(c.Customers.Upsert(background, &sdk.CustomerUpsert{ExternalID: "user-1", Name: nullable.NewNullNullable[string](), Tags: []string{"vip"}}))
		require.Len(t, ids, 1)
		assert.Equal(t, 30, ids[changed.ID])
		assert.Equal(t, "ada@example.com", changed.Email)
		require.Nil(t, changed.Name)
		assert.True(t, slices.Equal(changed.Tags, []string{"vip"}))
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, changed.ID, nil))
		again := ok[*sdk.Customer](t)(c.Customers.Upsert(background, &sdk.CustomerUpsert{ExternalID: "user-1", Email: new("ada@example.com")}))
		assert.NotEqual(t, changed.ID, again.ID, "a deleted customer is back")
		assert.LessOrEqual(t, len(again.Tags), 0, "a deleted customer is back")
	})
}

func TestBulkUpsertCustomers_AnswersForEachItemByItself(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "taken@example.com"}))
		done := ok[*sdk.BulkUpsert](t)(c.Customers.BulkUpsert(background, &sdk.CustomerBulkUpsert{Items: []sdk.CustomerUpsert{
			{ExternalID: "1", Email: new("one@example.com")},
			{ExternalID: "2", Email: new("TAKEN@example.com")},
			{ExternalID: "3", Email: new("one@example.com")},
			{ExternalID: "4", Email: new("nobody")},
			{ExternalID: "1", Name: nullable.NewNullableWithValue("One")},
			{ExternalID: "1", Email: new("one@example.com")},
			{ExternalID: "5", Email: new("five@example.com")},
		}}))
		var outcomes []string
		for _, r := range done.Results {
			outcome := string(r.Status)
			if r.Error != nil {
				outcome += " " + *r.Error.Param
			}
			outcomes = append(outcomes, outcome)
		}
		if !slices.Equal(outcomes, []string{"created", "failed email", "failed email", "failed email", "updated", "unchanged", "created"}) {
			t.Errorf("the outcomes are %q", outcomes)
		}
		five := ok[*sdk.Customer](t)(c.Customers.GetByExternalID(background, "5"))
		if five.ID != *done.Results[6].ID {
			t.Errorf("what comes after a refused item is %+v", five)
		}
	})
}
