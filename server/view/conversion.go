package view

import (
	"encoding/json"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// Conversion renders something that a pixel is told, without who did it.
func Conversion(c *advert.Conversion) api.Conversion {
	var value *json.Number
	if c.Currency != "" {
		value = new(amount(c.Value))
	}
	due := c.DueAt
	if c.IsHeld() {
		due = nil
	}
	return api.Conversion{
		ID:            c.ID,
		Object:        "conversion",
		DestinationID: c.DestinationID,
		PixelID:       c.PixelID,
		Event:         conversionEventKind(c.Kind),
		EventID:       c.EventID,
		OccurredAt:    at(c.HappenedAt),
		Value:         value,
		Currency:      textOrNil(c.Currency),
		Source:        api.ConversionSource(c.Source),
		Status:        api.ConversionStatus(c.Status),
		Reason:        textOrNil(c.Reason),
		Attempts:      int64(c.Attempts),
		NextAttemptAt: atOrNull(due),
		SentAt:        atOrNull(c.SentAt),
		CreatedAt:     at(c.CreatedAt),
		UpdatedAt:     at(c.UpdatedAt),
	}
}

// ListConversions reads the query of a list.
func ListConversions(q api.ListConversionsParams) advert.ListConversions {
	return advert.ListConversions{
		Page: Page(q.Limit, q.StartingAfter, q.EndingBefore), DestinationID: value(q.DestinationID), Status: advert.ConversionStatus(value(q.Status)),
		Kind: advert.ConversionKind(value(q.Event)), EventID: value(q.EventID),
	}
}

// CreateConversions reads the events of a request.
func CreateConversions(b *api.ConversionsCreate) []ads.CreateConversion {
	return mapped(b.Events, func(e api.ConversionInput) ads.CreateConversion {
		in := ads.CreateConversion{
			EventID: value(e.EventID), Kind: value(e.Event), OccurredAt: value(e.OccurredAt), Value: string(value(e.Value)), Currency: value(e.Currency),
			PageURL: value(e.PageURL), ClientIP: value(e.ClientIP), UserAgent: value(e.UserAgent), ClickID: value(e.ClickID), AdsConsent: value(e.AdsConsent),
			Items: mapped(e.Items, conversionItem),
		}
		if u := e.User; u != nil {
			in.User = ads.User{
				Email: value(u.Email), Phone: value(u.Phone), EmailSHA256: value(u.EmailSHA256), PhoneSHA256: value(u.PhoneSHA256),
				FirstName: value(u.FirstName), LastName: value(u.LastName), City: value(u.City), State: value(u.State), Country: value(u.Country), Zip: value(u.Zip),
			}
		}
		return in
	})
}

func conversionItem(i api.ConversionItem) ads.CreateConversionItem {
	item := ads.CreateConversionItem{ID: i.ID, Quantity: 1, Price: string(value(i.Price))}
	set(&item.Quantity, i.Quantity)
	return item
}

// ConversionsResult renders what became of the events of a request.
func ConversionsResult(destination string, rows []ads.CreatedConversion) api.ConversionsResult {
	counts := map[api.ConversionResultOutcome]int64{}
	results := make([]api.ConversionResult, len(rows))
	for i := range rows {
		results[i] = conversionResult(i, &rows[i])
		counts[results[i].Outcome]++
	}
	return api.ConversionsResult{
		Object: "conversions_result", DestinationID: destination, Received: int64(len(rows)), Queued: counts[api.ConversionResultOutcomeQueued],
		Duplicates: counts[api.ConversionResultOutcomeDuplicate], Failed: counts[api.ConversionResultOutcomeFailed], Results: results,
	}
}

func conversionResult(index int, r *ads.CreatedConversion) api.ConversionResult {
	outcome, problem := api.ConversionResultOutcomeQueued, (*api.AdItemError)(nil)
	switch {
	case r.Err != nil:
		outcome = api.ConversionResultOutcomeFailed
		problem = adItemError(&ads.ItemError{Code: r.Err.Code, Param: r.Err.Param, Message: r.Err.Message})
	case r.IsDuplicate():
		outcome = api.ConversionResultOutcomeDuplicate
	}
	return api.ConversionResult{Index: int64(index), EventID: textOrNil(shortened(r.EventID)), Outcome: outcome, ConversionID: textOrNil(r.ID), Error: problem}
}
