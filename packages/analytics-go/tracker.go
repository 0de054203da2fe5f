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

var (
	_ Tracker = (*Client)(nil)
	_ Tracker = Noop{}
)

// Noop is a Tracker that sends nothing. Its calls validate their messages, as those of a Client do, so that a test
// notices an invalid one. It has no state: calls after Close succeed.
type Noop struct{}

func validated(encode func(*encoder) error) error {
	e := encoders.Get().(*encoder)
	defer e.free()
	return encode(e)
}

// Identify validates the message.
func (Noop) Identify(m *Identify) error { return validated(m.encode) }

// Track validates the message.
func (Noop) Track(m *Track) error { return validated(m.encode) }

// Page validates the message.
func (Noop) Page(m *Page) error { return validated(m.encode) }

// Screen validates the message.
func (Noop) Screen(m *Screen) error { return validated(m.encode) }

// Group validates the message.
func (Noop) Group(m *Group) error { return validated(m.encode) }

// Alias validates the message.
func (Noop) Alias(m *Alias) error { return validated(m.encode) }

// IdentifyContext validates the message.
func (n Noop) IdentifyContext(_ context.Context, m *Identify) error { return n.Identify(m) }

// TrackContext validates the message.
func (n Noop) TrackContext(_ context.Context, m *Track) error { return n.Track(m) }

// PageContext validates the message.
func (n Noop) PageContext(_ context.Context, m *Page) error { return n.Page(m) }

// ScreenContext validates the message.
func (n Noop) ScreenContext(_ context.Context, m *Screen) error { return n.Screen(m) }

// GroupContext validates the message.
func (n Noop) GroupContext(_ context.Context, m *Group) error { return n.Group(m) }

// AliasContext validates the message.
func (n Noop) AliasContext(_ context.Context, m *Alias) error { return n.Alias(m) }

// Flush does nothing.
func (Noop) Flush() error { return nil }

// Close does nothing.
func (Noop) Close() error { return nil }
