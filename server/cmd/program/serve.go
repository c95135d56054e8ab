package program

import (
	"context"
	"net"
	"sync"
	"time"
)

// Worker is what runs beside the server, until ctx ends.
type Worker struct {
	Name string
	Run  func(ctx context.Context)
}

// The names of workers that tests have rest or leave out.
const (
	WorkerAds        = "ads"
	WorkerPictures   = "pictures"
	WorkerStatistics = "statistics"
)

// workerPause lies between the first looks of the workers: if all looked at once, each would open a connection of its own.
const workerPause = 20 * time.Millisecond

// Serve answers on the listener and runs the workers until ctx ends, and returns once all have ended. Events that are in the outbox then are
// sent after the next start, or by another replica.
func (p *Program) Serve(ctx context.Context, listener net.Listener) error {
	background, stop := context.WithCancel(ctx)
	defer stop()
	var workers sync.WaitGroup
	for i, w := range p.Workers {
		workers.Go(func() {
			select {
			case <-time.After(time.Duration(i) * workerPause):
				w.Run(background)
			case <-background.Done():
			}
		})
	}
	requests, stopWriting := context.WithCancel(context.WithoutCancel(ctx)) // what is answered after the signal to stop is written down, too
	defer stopWriting()
	var written sync.WaitGroup
	written.Go(func() { p.api.WriteRequests(requests) })

	err := p.sites.serve(ctx, p.api, listener)
	stop()
	stopWriting()
	p.shop.Wait()
	p.dashboard.Wait()
	workers.Wait()
	written.Wait()
	return err
}

// Close gives back what New took. It is called after Serve, or instead of it.
func (p *Program) Close() {
	if p.sites != nil {
		p.sites.Close()
	}
	p.sender.Close()
}
