package sandbox

import (
	"context"
	"net/http"

	"github.com/tillwright/tillwright/store/core"
)

// FaultHeader is the header that a server in development takes a fault from.
const FaultHeader = "X-Sandbox-Fault"

// FromHeader returns a context with the fault that a request asks for, and CodeBadRequest for what is none.
func FromHeader(ctx context.Context, h http.Header) (context.Context, error) {
	text := h.Get(FaultHeader)
	if text == "" {
		return ctx, nil
	}
	fault, err := ParseFault(text)
	if err != nil {
		return nil, &core.Error{Code: core.CodeBadRequest, Param: FaultHeader, Message: "The header cannot be read: " + err.Error() + "."}
	}
	return WithFault(ctx, fault), nil
}
