package tiktok

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // TikTok checks with it that a file came whole
	"encoding/hex"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// calculations are TikTok's words for how people are written in a file. All files of an audience have one of them.
var calculations = map[advert.Identifier]string{advert.IdentifierEmail: "EMAIL_SHA256", advert.IdentifierPhone: "PHONE_SHA256"}

// UploadUsers implements ads.Network. It brings a file of hashes to TikTok and adds it to the customer list, which it first makes if there is none. A
// list is of e-mail addresses if there are some among its first people, and else of phone numbers. An audience that an earlier call made without
// hearing of it is recognised by our id in its name.
func (d *Driver) UploadUsers(ctx context.Context, c ads.Conn, u ads.Upload) (ads.Uploaded, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	a := u.Audience
	w, made, err := d.listOf(ctx, c, a)
	if err != nil {
		return ads.Uploaded{}, err
	}
	kind := kindOf(w, made, u.Members)
	uploaded := ads.Uploaded{Audience: a}
	hashes, invalid := ofKind(kind, u.Members)
	if uploaded.Invalid = invalid; len(hashes) == 0 {
		return uploaded, nil
	}
	file, err := d.file(ctx, c, a.AdAccountID, kind, hashes)
	if err != nil {
		return ads.Uploaded{}, err
	}
	uploaded.Accepted = len(hashes)
	if made {
		uploaded.Audience, err = d.changeList(ctx, c, a.AdAccountID, w.ID, "APPEND", file)
		return uploaded, err
	}
	uploaded.Audience, err = d.makeAudience(ctx, c, a.AdAccountID, "dmp/custom_audience/create", fields{
		"advertiser_id": a.AdAccountID, "custom_audience_name": mark(a.Name, a.ID, widestAudience), "calculate_type": calculations[kind], "file_paths": []string{file},
	})
	uploaded.Audience.Description = a.Description
	return uploaded, err
}

// RemoveUsers implements ads.Network.
func (d *Driver) RemoveUsers(ctx context.Context, c ads.Conn, u ads.Upload) (advert.Audience, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	w, made, err := d.listOf(ctx, c, u.Audience)
	if err != nil {
		return advert.Audience{}, err
	}
	kind := kindOf(w, made, u.Members)
	hashes, _ := ofKind(kind, u.Members)
	if !made || len(hashes) == 0 {
		return u.Audience, nil
	}
	file, err := d.file(ctx, c, u.Audience.AdAccountID, kind, hashes)
	if err != nil {
		return advert.Audience{}, err
	}
	return d.changeList(ctx, c, u.Audience.AdAccountID, w.ID, "REMOVE", file)
}

// kindOf returns how the people of a list are written.
func kindOf(w audience, made bool, members []advert.Member) advert.Identifier {
	if made && w.Calculate == calculations[advert.IdentifierPhone] {
		return advert.IdentifierPhone
	}
	for _, m := range members {
		if made || m.Kind == advert.IdentifierEmail {
			return advert.IdentifierEmail
		}
	}
	return advert.IdentifierPhone
}

// ofKind returns the hashes of one kind, and says of the others why they are not taken.
func ofKind(kind advert.Identifier, members []advert.Member) (hashes []string, invalid []ads.InvalidMember) {
	for place, m := range members {
		if m.Kind == kind {
			hashes = append(hashes, m.Hash)
			continue
		}
		invalid = append(invalid, ads.InvalidMember{Place: place, Message: "An audience on TikTok is of one kind of identifier. This one is of: " + string(kind) + "."})
	}
	return hashes, invalid
}

// listOf returns the audience as the network has it, or false if it has none yet.
func (d *Driver) listOf(ctx context.Context, c ads.Conn, a advert.Audience) (audience, bool, error) {
	if a.PlatformID == nil {
		return d.audienceMarked(ctx, c, a.AdAccountID, a.ID)
	}
	w, err := d.audience(ctx, c, a.AdAccountID, *a.PlatformID)
	return w, err == nil, err
}

// file brings hashes to TikTok, one in each line, and returns where they are there. A file alone changes nothing, so it may be sent again.
func (d *Driver) file(ctx context.Context, c ads.Conn, adAccount string, kind advert.Identifier, hashes []string) (string, error) {
	content := []byte(strings.Join(hashes, "\n"))
	sum := md5.Sum(content) //nolint:gosec // as above
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"advertiser_id", adAccount}, {"calculate_type", calculations[kind]}, {"file_signature", hex.EncodeToString(sum[:])}} {
		_ = w.WriteField(field[0], field[1]) // into memory
	}
	if part, err := w.CreateFormFile("file", "people.txt"); err == nil {
		_, _ = part.Write(content)
	}
	_ = w.Close()
	var made struct {
		Path string `json:"file_path"`
	}
	r := request{method: http.MethodPost, path: "dmp/custom_audience/file/upload", form: &form{w.FormDataContentType(), body.Bytes()}}
	if err := d.again(ctx, func() error { return d.writeAs(ctx, c, r, &made) }); err != nil {
		return "", harmless(c, err)
	}
	return made.Path, nil
}

// changeList adds a file to an audience or takes it away, and returns the audience.
func (d *Driver) changeList(ctx context.Context, c ads.Conn, adAccount, id, action, file string) (advert.Audience, error) {
	err := d.write(ctx, c, "dmp/custom_audience/update", fields{
		"advertiser_id": adAccount, "custom_audience_id": id, "action": action, "file_paths": []string{file},
	}, nil)
	if err != nil {
		return advert.Audience{}, err
	}
	w, err := d.audience(ctx, c, adAccount, id)
	if err != nil {
		return advert.Audience{}, unread(err)
	}
	return audienceRow(w), nil
}
