package analytics

import "slices"

// A job is a batch in hand.
type job struct {
	batch *batch
	// The parts that are left, the next one last. None is empty.
	left []part
	// Whether it was refused, and is sent in parts to find the message that is the cause.
	isSplit bool
}

func newJob(b *batch) *job { return &job{batch: b, left: []part{{0, len(b.ends)}}} }

func (j *job) top() part { return j.left[len(j.left)-1] }

// take removes and returns the next part, or so many messages of it.
func (j *job) take(most int) part {
	top := &j.left[len(j.left)-1]
	taken := part{top.from, min(top.to, top.from+most)}
	top.from = taken.to
	if top.size() == 0 {
		j.left = j.left[:len(j.left)-1]
	}
	return taken
}

// putBack reverses take, which took the whole of a part or only some of it.
func (j *job) putBack(p, whole part) {
	if p.to < whole.to {
		j.left = j.left[:len(j.left)-1]
	}
	j.left = append(j.left, whole)
}

// divide puts a part back as two, the first with so many messages, or as one if these are all.
func (j *job) divide(p part, first int) {
	if first < p.size() {
		j.left = append(j.left, part{p.from + first, p.to})
	}
	j.left = append(j.left, part{p.from, p.from + first})
}

// join puts the parts of a batch that was split together again.
func (j *job) join() {
	if j.isSplit {
		j.left = j.rest()
		slices.Reverse(j.left)
		j.isSplit = false
	}
}

// remove takes one message out.
func (j *job) remove(index int) {
	left := make([]part, 0, len(j.left)+1)
	for _, p := range j.left {
		if index < p.from || index >= p.to {
			left = append(left, p)
			continue
		}
		for _, side := range []part{{index + 1, p.to}, {p.from, index}} {
			if side.size() > 0 {
				left = append(left, side)
			}
		}
	}
	j.left = left
}

// rest returns the parts that are left in order, joined where they follow one another.
func (j *job) rest() []part {
	var all []part
	for i := len(j.left) - 1; i >= 0; i-- {
		if n := len(all); n > 0 && all[n-1].to == j.left[i].from {
			all[n-1].to = j.left[i].to
		} else {
			all = append(all, j.left[i])
		}
	}
	return all
}

// before removes the messages before an index, and returns them in parts.
func (j *job) before(index int) []part {
	var removed []part
	for _, p := range j.rest() {
		if p.from < index {
			removed = append(removed, part{p.from, min(p.to, index)})
		}
	}
	j.left = from(j.left, index)
	return removed
}

// from removes the messages before an index from the parts that are left.
func from(left []part, index int) []part {
	for len(left) > 0 {
		next := &left[len(left)-1]
		if next.to > index {
			next.from = max(next.from, index)
			break
		}
		left = left[:len(left)-1]
	}
	return left
}

// probe sends a message from behind the first one, which fails alone.
func (s *sender) probe() (answer result, made bool) {
	j, index, isLast := s.behind(s.probePlaces)
	if j == nil {
		return result{}, false
	}
	s.probePlaces = nextPlaces(s.probePlaces)
	if isLast {
		s.probePlaces = 1
	}
	before := slices.Clone(j.left)
	one := part{index, index + 1}
	j.remove(index)
	answer = s.poster.post(s.ctx, j.batch.text(one), 1)
	s.report.attempted(1)
	switch {
	case answer.outcome == accepted:
		s.accepted(j.batch, one, answer, 1)
	case answer.outcome == retried:
		j.left = before
	case len(answer.rejected) == 1:
		s.report.rejected(j.batch, one, answer, 1)
	default:
		s.report.unsent(j.batch, one, Refused, answer, 1)
	}
	return answer, true
}

// behind finds the message so many places behind the first one, or the last one of all, in the batches in hand and in the queue. It
// finds none where there is only one.
func (s *sender) behind(places int) (j *job, index int, isLast bool) {
	seen := 0
	for n := 0; ; n++ {
		if n == len(s.jobs) {
			b := s.queue.nextOfAny()
			if b == nil {
				return j, index, true
			}
			s.jobs = append(s.jobs, newJob(b))
		}
		for _, p := range s.jobs[n].rest() {
			if places < seen+p.size() {
				return s.jobs[n], p.from + places - seen, false
			}
			seen += p.size()
			if seen > 1 {
				j, index = s.jobs[n], p.to-1
			}
		}
	}
}
