package main

import (
	"errors"
	"io"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/advert"
)

// chunk is a number of rows that are sent together, hashed.
type chunk struct {
	rows  int // of the file
	send  []sdk.AdAudienceUser
	lines []int // of what is sent
	found uploadCounts
}

// nextChunk reads and hashes at most that many rows. The same rows always give the same chunk, so that its Idempotency-Key fits
// when it is sent again. If it has no rows, none are left.
func nextChunk(rows *userRows, caps ads.Caps, most int) (*chunk, error) {
	c := &chunk{}
	var users []ads.User
	var lines []int
	for ; c.rows < most; c.rows++ {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if row.problem != "" {
			c.found.refuse(row.line, "", row.problem)
			continue
		}
		users, lines = append(users, row.user), append(lines, row.line)
	}
	c.found.Received = int64(c.rows)
	c.hash(caps.HashUsers(users), lines)
	return c, nil
}

// hash takes over the hashed people to be sent, and which rows cannot be used.
func (c *chunk) hash(hashed ads.HashedUsers, lines []int) {
	for _, wrong := range hashed.Invalid {
		c.found.refuse(lines[wrong.Index], wrong.Param, wrong.Message)
	}
	c.found.Duplicates += int64(hashed.Duplicates)
	c.found.ignore(hashed.Ignored)
	last := -1
	for _, m := range hashed.Members {
		if m.Index != last {
			last = m.Index
			c.send, c.lines = append(c.send, sdk.AdAudienceUser{}), append(c.lines, lines[m.Index])
		}
		user := &c.send[len(c.send)-1]
		if m.Kind == advert.IdentifierEmail {
			user.EmailSHA256 = new(m.Hash)
		} else {
			user.PhoneSHA256 = new(m.Hash)
		}
	}
}

// answer adds what the server made of the people that were sent.
func (c *chunk) answer(result *sdk.AdAudienceUpload) {
	c.found.Accepted += result.Accepted
	c.found.Duplicates += result.Duplicates
	for _, wrong := range result.Errors {
		if wrong.Index < 0 || int(wrong.Index) >= len(c.lines) {
			continue
		}
		param := ""
		if wrong.Param != nil {
			param = *wrong.Param
		}
		c.found.Errors = append(c.found.Errors, rowError{c.lines[wrong.Index], param, wrong.Message})
	}
	c.found.Invalid += result.Invalid
	c.found.ignore(result.Ignored)
}
