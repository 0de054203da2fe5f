package journal

import (
	"errors"
	"os"
	"time"
)

// Sync writes the appended messages to the disk.
func (j *Journal) Sync() error {
	j.mu.Lock()
	file, dirty := j.file, j.dirty
	j.dirty = false
	j.mu.Unlock()
	if !dirty || file == nil {
		return nil
	}
	// Outside of the lock, so that calls do not wait for the disk. A segment is synced before it is closed.
	if err := file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
		j.mu.Lock()
		j.dirty = true
		j.mu.Unlock()
		return err
	}
	return nil
}

// SyncEvery syncs in an interval, or never if it is not above 0, until the returned function is called. The first of several errors in
// a row is reported.
func (j *Journal) SyncEvery(interval time.Duration, report func(error)) (stop func()) {
	if interval <= 0 {
		return func() {}
	}
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		failing := false
		for {
			select {
			case <-stopping:
				return
			case <-ticker.C:
			}
			err := j.Sync()
			if err != nil && !failing {
				report(err)
			}
			failing = err != nil
		}
	}()
	return func() {
		close(stopping)
		<-stopped
	}
}
