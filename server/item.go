package server

import (
	"maps"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// readItem reads the schema of the items that x-each names. The body then takes any objects in their place: each is judged by itself.
func (o *Operation) readItem(schema *openapi3.Schema) {
	if o.Each == "" {
		return
	}
	list := *schema.Properties[o.Each].Value
	o.item, list.Items = list.Items.Value, openapi3.NewObjectSchema().NewRef()
	loose := *schema
	loose.Properties = maps.Clone(schema.Properties)
	loose.Properties[o.Each] = list.NewRef()
	o.body = openapi3.NewRequestBody().WithRequired(true).WithJSONSchema(&loose)
}

// judgeItems judges each item of a body. One that does not match its schema is kept with its refusal in the caller's Refused. Only its
// external_id stays in the body: the handler answers for it, and writes the others.
func judgeItems(op *Operation) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			who := caller.Of(c.Request().Context())
			items, _ := bodyOf(c)[op.Each].([]any)
			who.Items, who.Refused = len(items), caller.Items{}
			for i, sent := range items {
				item, _ := sent.(map[string]any)
				if err := CheckBody(op.item, item); err != nil {
					who.Refused[i] = caller.Item{Sent: sent, Err: err}
					items[i] = nameOnly(item)
				}
			}
			return next(c)
		}
	}
}

// countItems counts the items of a body for the account. Those of a replay are not counted again.
func (s *Server) countItems(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who := caller.Of(c.Request().Context())
		if err := s.store.CountItems(c.Request().Context(), who.Account, who.Items); err != nil {
			return err
		}
		return next(c)
	}
}

// nameOnly returns what is left of an item that was refused: its external_id, if that is one.
func nameOnly(item map[string]any) map[string]any {
	if id, isText := item["external_id"].(string); isText && id != "" && core.HasAtMost(&id, 255) {
		return map[string]any{"external_id": id}
	}
	return map[string]any{}
}
