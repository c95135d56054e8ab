package picture

import "image"

// upright turns a picture that lies in one of the eight ways of EXIF.
func upright(p *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return p
	}
	w, h := p.Rect.Dx(), p.Rect.Dy()
	size := image.Pt(w, h)
	if orientation >= 5 {
		size = image.Pt(h, w)
	}
	turned := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			from := image.Pt(x, y)
			switch orientation {
			case 2:
				from = image.Pt(w-1-x, y)
			case 3:
				from = image.Pt(w-1-x, h-1-y)
			case 4:
				from = image.Pt(x, h-1-y)
			case 5:
				from = image.Pt(y, x)
			case 6:
				from = image.Pt(y, h-1-x)
			case 7:
				from = image.Pt(w-1-y, h-1-x)
			case 8:
				from = image.Pt(w-1-y, x)
			}
			turned.SetRGBA(x, y, p.RGBAAt(from.X, from.Y))
		}
	}
	return turned
}
