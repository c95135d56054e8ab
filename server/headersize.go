package server

import (
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/core"
)

const maxHeaderSize = 64 << 10

// limitHeaderSize refuses a request whose line and headers have more than 64 KiB, with an envelope. The HTTP library's own
// limit is higher, and its answer is no envelope.
func limitHeaderSize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		size := len(r.RequestURI)
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value) + len(": \r\n")
			}
		}
		if size > maxHeaderSize {
			return &core.Error{Code: codeHeadersTooLarge, Message: "The request line and headers are larger than 64 KiB."}
		}
		return next(c)
	}
}
