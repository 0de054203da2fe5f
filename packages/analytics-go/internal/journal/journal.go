// Package journal keeps messages in files until they are settled, so that they survive the end of the process.
//
// A folder has segments, which are only appended to, the position up to which messages are settled, and a lock. A record
// of a segment is the length of the message and the CRC-32C of what follows, each in four bytes, the time in milliseconds
// since 1970 in eight, and the message. A message may be settled before an older one. Then both are replayed while the older
// one is not settled, and [Journal.IsHeldUp] tells when the older one should be appended again.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	// SegmentBytes is the size at which a new segment begins. The files of a journal have at most the bytes of the
	// messages that are not settled, sixteen bytes for each of these, and two segments, if messages are settled in order.
	SegmentBytes = 4 << 20
	// maxMessageBytes is the largest length that is believed when a segment is read.
	maxMessageBytes = 1 << 20
	headBytes       = 8
	timeBytes       = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrInUse is returned, wrapped, by [Open] for a folder that another client uses.
var ErrInUse = errors.New("is used by another client")

// A segment is one file. Its records are those that were read or appended.
type segment struct {
	number  uint64
	records uint64
	bytes   int64
}

// A Journal is used by several goroutines.
type Journal struct {
	folder string
	lock   *os.File
	mu     sync.Mutex
	// Oldest first. While a file is open, it is the last one's.
	segments []segment
	// The settled records of the first segment, before the oldest that is not settled.
	settled uint64
	// The number of the first record of the first segment, since this journal was opened.
	base uint64
	// The numbers of settled records behind one that is not.
	ahead map[uint64]bool
	// The bytes of the records that are not settled.
	live     int64
	file     *os.File
	size     int64
	position *os.File
	// Whether something was written since the last sync.
	dirty bool
	// Reused for each record.
	record []byte
	// The number of the next segment.
	next uint64
}

// Open locks the folder, which is created where it is missing.
func Open(folder string) (*Journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(folder, "lock"))
	if err != nil {
		return nil, err
	}
	j := &Journal{folder: folder, lock: lock, ahead: map[uint64]bool{}}
	if err := j.readFolder(); err != nil {
		lock.Close()
		return nil, err
	}
	return j, nil
}

// Append stores a message and a time in the file system, and returns its number. After [Journal.Sync] it is on the disk. After
// an error nothing of it is stored.
func (j *Journal) Append(message []byte, at time.Time) (number uint64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.size >= SegmentBytes {
		if err := j.rotate(); err != nil {
			return 0, err
		}
	}
	j.record = binary.LittleEndian.AppendUint32(j.record[:0], uint32(len(message)))
	// The checksum, once it is known.
	j.record = append(j.record, 0, 0, 0, 0)
	j.record = binary.LittleEndian.AppendUint64(j.record, uint64(at.UnixMilli()))
	j.record = append(j.record, message...)
	binary.LittleEndian.PutUint32(j.record[4:], crc32.Checksum(j.record[headBytes:], castagnoli))
	if _, err := j.file.WriteAt(j.record, j.size); err != nil {
		// A part of it may be written, as on a full disk. Without this, the next record would overwrite only some of it, and what
		// is left would be taken for a damaged record.
		_ = j.file.Truncate(j.size)
		return 0, err
	}
	j.size += int64(len(j.record))
	j.live += int64(len(j.record))
	last := &j.segments[len(j.segments)-1]
	last.records++
	last.bytes = j.size
	j.dirty = true
	return j.end() - 1, nil
}

// end is the number of the next record.
func (j *Journal) end() uint64 {
	end := j.base
	for _, s := range j.segments {
		end += s.records
	}
	return end
}

// rotate begins a segment.
func (j *Journal) rotate() error {
	name := j.path(j.next)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if j.file != nil {
		if err := errors.Join(j.file.Sync(), j.file.Close()); err != nil {
			file.Close()
			_ = os.Remove(name)
			j.file = nil
			return err
		}
	}
	j.segments = append(j.segments, segment{number: j.next})
	j.file, j.size, j.next = file, 0, j.next+1
	syncFolder(j.folder)
	j.removeSettled()
	return j.writePosition()
}

// Settle marks messages as settled, by their numbers and their size together. They are not replayed once all older ones are
// settled too.
func (j *Journal) Settle(numbers []uint64, bytes int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.live -= int64(bytes) + int64(len(numbers))*(headBytes+timeBytes)
	before := j.settled
	for _, number := range numbers {
		if number == j.base+j.settled {
			j.settled++
		} else {
			j.ahead[number] = true
		}
	}
	for j.ahead[j.base+j.settled] {
		delete(j.ahead, j.base+j.settled)
		j.settled++
	}
	if j.settled == before {
		return nil
	}
	j.removeSettled()
	return j.writePosition()
}

// IsHeldUp reports whether the message with this number keeps settled ones behind it in the files: more than those that are
// not settled and two segments have, or always any. It does not while it is not the oldest one.
func (j *Journal) IsHeldUp(number uint64, always bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if number != j.base+j.settled {
		return false
	}
	total := int64(0)
	for _, s := range j.segments {
		total += s.bytes
	}
	return always && len(j.ahead) > 0 || total-j.live > max(2*SegmentBytes, j.live)
}

// removeSettled removes the segments of which every record is settled, except the one that is appended to.
func (j *Journal) removeSettled() {
	for len(j.segments) > 1 && j.settled >= j.segments[0].records {
		j.settled -= j.segments[0].records
		j.base += j.segments[0].records
		_ = os.Remove(j.path(j.segments[0].number))
		j.segments = j.segments[1:]
	}
}

// Close syncs and unlocks. A journal without messages leaves no segments behind.
func (j *Journal) Close() error {
	err := j.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
		j.file = nil
	}
	if j.base+j.settled >= j.end() {
		for _, s := range j.segments {
			err = errors.Join(err, os.Remove(j.path(s.number)))
		}
		j.segments, j.settled = nil, 0
	}
	return errors.Join(err, j.position.Close(), j.lock.Close())
}

// Intact reports whether the files are where the next client looks for them. The folder may have been removed.
func (j *Journal) Intact() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !slices.ContainsFunc(j.segments, func(s segment) bool {
		_, err := os.Stat(j.path(s.number))
		return err != nil
	})
}

func (j *Journal) path(number uint64) string {
	return filepath.Join(j.folder, fmt.Sprintf("%016d%s", number, suffix))
}
