package harness

import "context"

// restful is a worker that a test can have rest.
type restful struct {
	work  func(context.Context)
	rests chan rest
}

// rest is a time in which a worker does nothing.
type rest struct {
	begun, over chan struct{}
}

// run works until ctx ends, but for the rests.
func (r *restful) run(ctx context.Context) {
	for ctx.Err() == nil {
		turn, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			r.work(turn)
			close(ended)
		}()
		select {
		case <-ctx.Done():
			stop()
			<-ended
		case rest := <-r.rests:
			stop()
			<-ended
			close(rest.begun)
			select {
			case <-rest.over:
			case <-ctx.Done():
			}
		}
	}
}

// RestAds returns once the workers of ads have ended what they were at, such as mirroring what a network has. They do nothing until goOn is called.
func (s *Server) RestAds() (goOn func()) {
	r := rest{make(chan struct{}), make(chan struct{})}
	s.adWork.rests <- r
	<-r.begun
	return func() { close(r.over) }
}
