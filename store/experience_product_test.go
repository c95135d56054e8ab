package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
)

func TestAttachExperience_TellsOfTheProductOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		club, err := s.Content.CreateExperience(t.Context(), s.account, content.Experience{Name: "Club", Type: content.ExperienceTypeLink})
		require.NoError(t, err)
		guide, err := s.Catalog.CreateProduct(t.Context(), s.account, catalog.NewProduct{Product: catalog.Product{Name: "Guide"}})
		require.NoError(t, err)
		told := []string{"product.created"}
		for _, change := range []func() (*content.Experience, error){
			func() (*content.Experience, error) {
				return s.AttachExperience(t.Context(), s.account, club.ID, guide.ID)
			},
			func() (*content.Experience, error) {
				return s.DetachExperience(t.Context(), s.account, club.ID, guide.ID)
			},
		} {
			told = append(told, "product.updated")
			for range 2 {
				_, err := change()
				require.NoError(t, err)
				require.Equal(t, told, s.eventTypes(t, guide.ID))
			}
		}
	})
}
