package sandbox

import (
	"context"
	"net/http"

	"github.com/tillwright/tillwright/store/core"
)

// FaultHeader is the request header by which a server in development lets a fault happen.
const FaultHeader = "X-Sandbox-Fault"

// FromHeader returns a context with the fault that a request's header asks for. A text that names no fault is
// CodeBadRequest.
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
