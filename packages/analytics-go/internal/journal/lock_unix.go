//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lockFile returns a file that no other client has. The system unlocks it when the process ends, however it ends.
func lockFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrInUse
		}
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return file, nil
}

// syncFolder stores the name of a new file. Some file systems cannot, and need not.
func syncFolder(folder string) {
	if opened, err := os.Open(folder); err == nil {
		_ = opened.Sync()
		opened.Close()
	}
}
