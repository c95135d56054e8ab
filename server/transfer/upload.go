package transfer

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// uploadState is what the address of an upload answers with.
type uploadState struct {
	Object    string `json:"object"` // upload
	Size      int64  `json:"size"`
	Received  int64  `json:"received"`
	PartSize  int64  `json:"part_size"`
	ExpiresAt string `json:"expires_at"`
}

func answer(c echo.Context, p *grant.Upload) error {
	return c.JSON(http.StatusOK, uploadState{"upload", p.Size, p.Received, grant.PartSize, p.ExpiresAt.Time().UTC().Format("2006-01-02T15:04:05.000Z07:00")})
}

// state says how much of an upload has arrived: as JSON, and in the headers of tus.
func (s *Service) state(c echo.Context) error {
	p, err := s.store.OpenUpload(c.Request().Context(), c.Param("token"))
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("Cache-Control", "no-store")
	header.Set(tusVersion, tus)
	header.Set(tusOffset, strconv.FormatInt(p.Received, 10))
	header.Set(tusLength, strconv.FormatInt(p.Size, 10))
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	return answer(c, p)
}

// put takes raw bytes from an offset on, 0 without one.
func (s *Service) put(c echo.Context) error {
	var offset int64
	if query := c.QueryParams(); query.Has("offset") {
		var err error
		if offset, err = strconv.ParseInt(query.Get("offset"), 10, 64); err != nil || offset < 0 || len(query["offset"]) > 1 {
			return &core.Error{Code: core.CodeBadRequest, Param: "offset", Message: "Send as offset the number of bytes that `received` says, once."}
		}
	}
	p, err := s.store.OpenUpload(c.Request().Context(), c.Param("token"))
	if err != nil {
		return err
	}
	if p, err = s.receive(c, p, offset); err != nil {
		return err
	}
	return answer(c, p)
}

// Take takes all bytes of an upload from the body of a request, whose length is theirs.
func (s *Service) Take(c echo.Context, token string) error {
	p, err := s.store.OpenUpload(c.Request().Context(), token)
	if err != nil {
		return err
	}
	_, err = s.receive(c, p, 0)
	return err
}

// The headers of tus 1.0 in their canonical form.
const (
	tus        = "1.0.0"
	tusVersion = "Tus-Resumable"
	tusOffset  = "Upload-Offset"
	tusLength  = "Upload-Length"
	tusType    = "application/offset+octet-stream"
)

// options says that the address speaks the core of tus 1.0.
func (s *Service) options(c echo.Context) error {
	header := c.Response().Header()
	header.Set(tusVersion, tus)
	header.Set("Tus-Version", tus)
	header.Set("Allow", "GET, HEAD, OPTIONS, PATCH, PUT")
	return c.NoContent(http.StatusNoContent)
}

// patch takes bytes as tus sends them: at the offset where the others end, and nowhere else.
func (s *Service) patch(c echo.Context) error {
	header, out := c.Request().Header, c.Response().Header()
	out.Set(tusVersion, tus)
	if header.Get(tusVersion) != tus {
		out.Set("Tus-Version", tus)
		return c.NoContent(http.StatusPreconditionFailed) // as tus demands, without a body
	}
	if header.Get(echo.HeaderContentType) != tusType {
		return &core.Error{Code: core.CodeMediaType, Message: "Send the bytes as Content-Type: " + tusType + "."}
	}
	offset, err := strconv.ParseInt(header.Get(tusOffset), 10, 64)
	if err != nil || offset < 0 {
		return &core.Error{Code: core.CodeBadRequest, Param: tusOffset, Message: "Send as Upload-Offset the number of bytes that have arrived."}
	}
	p, err := s.store.OpenUpload(c.Request().Context(), c.Param("token"))
	if err != nil {
		return err
	}
	if offset != p.Received { // 0 does not start again
		return grant.UploadElsewhere(p.Received)
	}
	if p, err = s.receive(c, p, offset); err != nil {
		return err
	}
	out.Set(tusOffset, strconv.FormatInt(p.Received, 10))
	return c.NoContent(http.StatusNoContent)
}

// checkLength refuses a body that announces more bytes than are missing, or less than can be kept.
func checkLength(p *grant.Upload, offset, length int64) error {
	rest := p.Size - offset
	switch {
	case length > rest:
		return tooMuch(p)
	case 0 < length && length < min(rest, grant.PartSize):
		return tooShort()
	}
	return nil
}

func tooMuch(p *grant.Upload) error {
	return &core.Error{Code: core.CodeTooLarge, Message: fmt.Sprintf("The file was said to have %d bytes, and more were sent. Make a version of the right size.", p.Size)}
}

func tooShort() error {
	return &core.Error{Code: core.CodeBadRequest, Message: fmt.Sprintf("Send all the rest at once, or at least %d bytes: what is less than a part is not kept.", grant.PartSize)}
}

// brokenOff is the refusal of a body that ended before what was announced. Hardly anybody is there to read it.
func brokenOff(err error) error {
	return &core.Error{Code: core.CodeBadRequest, Message: fmt.Sprintf("The body ended early or could not be read: %v. Go on at `received`.", err), After: time.Second}
}
