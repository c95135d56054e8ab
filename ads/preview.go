package ads

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Previewer is a Network that shows how people will see an ad.
type Previewer interface {
	// Preview returns a page that shows an ad. Nothing is made, uploaded or spent for it, so that it may be repeated.
	Preview(context.Context, Conn, PreviewQuery) (Preview, error)
}

// PreviewQuery is an ad to look at: one that exists, or else the only one of a plan. That plan brings a kind of medium that is in Caps.Previews, and
// no video.
type PreviewQuery struct {
	Ad   *Ref
	Plan Plan
}

// Preview is a page that shows an ad.
type Preview struct {
	Platform advert.Platform // a driver leaves it out
	URL      string
	Until    *core.Time // nil = the network does not say
	Lacks    []string   // fields of a creative that the page does not show
	Warnings []string   // a driver leaves them out
}

// PreviewNewAd shows an ad that is read as CreateAd does, and makes nothing. The errors are those of CreateAd; what the network cannot
// show before it is made is CodeInvalid.
func (s *Service) PreviewNewAd(ctx context.Context, by Actor, in CreateAd) (*Preview, error) {
	d, err := s.draftAd(ctx, by, &in)
	if err != nil {
		return nil, err
	}
	d.caps.checkPreview(&d.problems, &in)
	if err := d.problems.Err(); err != nil {
		return nil, err
	}
	shown, err := s.preview(ctx, d.line, PreviewQuery{Plan: *d.plan})
	if err != nil {
		return nil, err
	}
	shown.Warnings = d.warnings
	for _, f := range creativeFields(in.Creative) {
		if f.value != "" && slices.Contains(shown.Lacks, f.name) {
			shown.Warnings = append(shown.Warnings, fmt.Sprintf("%s is not on the preview of %s. People will see it.", f.name, d.caps.Platform))
		}
	}
	return shown, nil
}

// PreviewAd shows an ad that exists. A network without previews is CodeInvalid.
func (s *Service) PreviewAd(ctx context.Context, by Actor, id, platform string) (*Preview, error) {
	a, line, err := s.changeable(ctx, by, id, platform)
	if err != nil {
		return nil, err
	}
	if caps := line.Caps(); len(caps.Previews) == 0 {
		return nil, core.Invalid("platform", caps.noPreviews())
	}
	return s.preview(ctx, line, PreviewQuery{Ad: new(refOfAd(a))})
}

func (s *Service) preview(ctx context.Context, l *line, q PreviewQuery) (*Preview, error) {
	if err := s.store.Leave(ctx); err != nil {
		return nil, err
	}
	shown, err := l.Network.(Previewer).Preview(ctx, l.conn, q) // every network of a line is outside
	if err != nil {
		return nil, unanswered(l.channel.Platform, "preview", err)
	}
	shown.Platform = l.channel.Platform
	return &shown, nil
}

func (c Caps) noPreviews() string {
	return fmt.Sprintf("%s makes no previews; `previews` of GET /ads/capabilities says which networks do.", c.Platform)
}

// checkPreview adds a problem for what the network cannot show before it is made. A video would have to be uploaded first.
func (c Caps) checkPreview(p *core.Problems, in *CreateAd) {
	if len(c.Previews) == 0 {
		p.Add("account_id", c.noPreviews())
		return
	}
	p.Check(len(in.Creatives) == 0, "creatives", "A preview shows one ad: send the fields of one creative beside the name.")
	for _, kind := range mediaOf(in.Creative) {
		p.Check(slices.Contains(c.Previews, kind), mediaFields[kind],
			fmt.Sprintf("%s shows no %s before the ad is made. Make the ad paused, and preview it with POST /ads/{id}/preview.", c.Platform, kind))
	}
	p.Check(in.Creative.VideoURL != "" || len(in.Creative.Videos()) == 0, "cards",
		"A video is uploaded when the ad is made, and cannot be shown before. Preview cards with images, or make the ad paused and preview it with POST /ads/{id}/preview.")
}

// Preview implements Previewer. A network that is none fails with ErrUnsupported.
func (o outside) Preview(ctx context.Context, c Conn, q PreviewQuery) (Preview, error) {
	previewer, ok := o.network.(Previewer)
	if !ok {
		return Preview{}, ErrUnsupported
	}
	ctx, cancel := leave(ctx, readTimeout)
	defer cancel()
	return previewer.Preview(ctx, c, q)
}
