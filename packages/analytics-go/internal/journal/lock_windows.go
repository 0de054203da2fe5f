package journal

import (
	"errors"
	"os"
	"syscall"
)

// ERROR_SHARING_VIOLATION of the Windows API.
const sharingViolation = syscall.Errno(32)

// lockFile returns a file that no other client has: it is opened without sharing. The system closes it when the process
// ends, however it ends.
func lockFile(name string) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}

// A folder cannot be synced on Windows, which stores names itself.
func syncFolder(string) {}
