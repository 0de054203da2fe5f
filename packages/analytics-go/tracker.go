package analytics

import "context"

// A Tracker makes calls. Programs that take a Tracker can be tested with a [Noop], or with a type of their own.
type Tracker interface {
	Identify(*Identify) error
	Track(*Track) error
	Page(*Page) error
	Screen(*Screen) error
	Group(*Group) error
	Alias(*Alias) error
	IdentifyContext(context.Context, *Identify) error
	TrackContext(context.Context, *Track) error
	PageContext(context.Context, *Page) error
	ScreenContext(context.Context, *Screen) error
	GroupContext(context.Context, *Group) error
	AliasContext(context.Context, *Alias) error
	Flush() error
	Close() error
}

var _, _ Tracker = (*Client)(nil), Noop{}

// Noop is a Tracker that sends nothing. Its calls validate their messages, as those of a Client do, so that a test
// notices an invalid one. It has no state: calls after Close succeed.
type Noop struct{}

func validated(call Call) error {
	e := encoders.Get().(*encoder)
	defer e.free()
	return e.encode(&call)
}

func (Noop) Identify(m *Identify) error { return validated(m.call()) }
func (Noop) Track(m *Track) error       { return validated(m.call()) }
func (Noop) Page(m *Page) error         { return validated(m.call()) }
func (Noop) Screen(m *Screen) error     { return validated(m.call()) }
func (Noop) Group(m *Group) error       { return validated(m.call()) }
func (Noop) Alias(m *Alias) error       { return validated(m.call()) }

func (n Noop) IdentifyContext(_ context.Context, m *Identify) error { return n.Identify(m) }
func (n Noop) TrackContext(_ context.Context, m *Track) error       { return n.Track(m) }
func (n Noop) PageContext(_ context.Context, m *Page) error         { return n.Page(m) }
func (n Noop) ScreenContext(_ context.Context, m *Screen) error     { return n.Screen(m) }
func (n Noop) GroupContext(_ context.Context, m *Group) error       { return n.Group(m) }
func (n Noop) AliasContext(_ context.Context, m *Alias) error       { return n.Alias(m) }

func (Noop) Flush() error { return nil }
func (Noop) Close() error { return nil }
