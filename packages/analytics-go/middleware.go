package analytics

import (
	"context"
	"fmt"
)

// A Middleware changes a call, or returns false to drop it. It is called by the goroutine of the call, so it may be
// called concurrently. A panic in it becomes the error of the call.
type Middleware func(*Call) (keep bool)

// A Call is any of the messages, for a [Middleware]. It is a copy down to the nested maps and slices of JSON, so changes do not affect
// the message of the caller. Fields that the type of the call does not have are ignored. MessageId and Timestamp are
// empty unless the program has set them.
type Call struct {
	// Type is track, identify, page, screen, group or alias. Changes have no effect.
	Type string

	UserId      string
	AnonymousId string
	// Event is the name of a track call.
	Event string
	// Category and Name are those of a page or screen.
	Category string
	Name     string
	// GroupId is that of a group call, PreviousId that of an alias.
	GroupId    string
	PreviousId string
	// Properties are those of a track or screen call, and the Traits of a page, as on the wire.
	Properties map[string]interface{}
	// Traits are those of an identify or group call.
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
}

// enqueueChanged passes a call through the middleware. It allocates, unlike a call without middleware.
func (c *Client) enqueueChanged(ctx context.Context, e *encoder, call *Call) error {
	kind := call.Type
	keep, err := c.change(call)
	if err != nil {
		return c.enqueue(ctx, e, err)
	}
	if !keep {
		e.free()
		c.dropped.Add(1)
		return nil
	}
	call.Type = kind
	return c.enqueue(ctx, e, call.encode(e))
}

func (c *Client) change(call *Call) (keep bool, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("analytics: a middleware panicked: %v", problem)
		}
	}()
	for _, middleware := range c.Middleware {
		if !middleware(call) {
			return false, nil
		}
	}
	return true, nil
}

func (call *Call) encode(e *encoder) error {
	switch call.Type {
	case "identify":
		return (&Identify{UserId: call.UserId, AnonymousId: call.AnonymousId, Traits: call.Traits,
			Context: call.Context, Integrations: call.Integrations, Timestamp: call.Timestamp, MessageId: call.MessageId}).encode(e)
	case "track":
		return (&Track{UserId: call.UserId, AnonymousId: call.AnonymousId, Event: call.Event, Properties: call.Properties,
			Context: call.Context, Integrations: call.Integrations, Timestamp: call.Timestamp, MessageId: call.MessageId}).encode(e)
	case "page":
		return (&Page{UserId: call.UserId, AnonymousId: call.AnonymousId, Category: call.Category, Name: call.Name, Traits: call.Properties,
			Context: call.Context, Integrations: call.Integrations, Timestamp: call.Timestamp, MessageId: call.MessageId}).encode(e)
	case "screen":
		return (&Screen{UserId: call.UserId, AnonymousId: call.AnonymousId, Category: call.Category, Name: call.Name, Properties: call.Properties,
			Context: call.Context, Integrations: call.Integrations, Timestamp: call.Timestamp, MessageId: call.MessageId}).encode(e)
	case "group":
		return (&Group{UserId: call.UserId, AnonymousId: call.AnonymousId, GroupId: call.GroupId, Traits: call.Traits,
			Context: call.Context, Integrations: call.Integrations, Timestamp: call.Timestamp, MessageId: call.MessageId}).encode(e)
	default:
		return (&Alias{UserId: call.UserId, PreviousId: call.PreviousId,
			Context: call.Context, Integrations: call.Integrations, Timestamp: call.Timestamp, MessageId: call.MessageId}).encode(e)
	}
}

func (m *Identify) call() *Call {
	call := &Call{Type: "identify", UserId: m.UserId, AnonymousId: m.AnonymousId, Traits: copyMap(m.Traits)}
	return call.complete(m.Context, m.Integrations, m.Timestamp, m.MessageId, &m.Message)
}

func (m *Track) call() *Call {
	call := &Call{Type: "track", UserId: m.UserId, AnonymousId: m.AnonymousId, Event: m.Event, Properties: copyMap(m.Properties)}
	return call.complete(m.Context, m.Integrations, m.Timestamp, m.MessageId, &m.Message)
}

func (m *Page) call() *Call {
	call := &Call{Type: "page", UserId: m.UserId, AnonymousId: m.AnonymousId, Category: m.Category, Name: m.Name, Properties: copyMap(m.Traits)}
	return call.complete(m.Context, m.Integrations, m.Timestamp, m.MessageId, &m.Message)
}

func (m *Screen) call() *Call {
	call := &Call{Type: "screen", UserId: m.UserId, AnonymousId: m.AnonymousId, Category: m.Category, Name: m.Name, Properties: copyMap(m.Properties)}
	return call.complete(m.Context, m.Integrations, m.Timestamp, m.MessageId, &m.Message)
}

func (m *Group) call() *Call {
	call := &Call{Type: "group", UserId: m.UserId, AnonymousId: m.AnonymousId, GroupId: m.GroupId, Traits: copyMap(m.Traits)}
	return call.complete(m.Context, m.Integrations, m.Timestamp, m.MessageId, &m.Message)
}

func (m *Alias) call() *Call {
	call := &Call{Type: "alias", UserId: m.UserId, PreviousId: m.PreviousId}
	return call.complete(m.Context, m.Integrations, m.Timestamp, m.MessageId, &m.Message)
}

func (call *Call) complete(context, integrations map[string]interface{}, timestamp, messageId string, old *Message) *Call {
	call.Context, call.Integrations = copyMap(context), copyMap(integrations)
	call.Timestamp, call.MessageId = timestamp, messageId
	if timestamp == "" {
		call.Timestamp = old.Timestamp
	}
	if messageId == "" {
		call.MessageId = old.MessageId
	}
	return call
}

// A copier copies the maps and slices of JSON. Deeper levels than the encoder writes are shared, so that a cycle ends, and so is what
// has more values than any message.
type copier struct{ values int }

func copyMap(m map[string]interface{}) map[string]interface{} { return new(copier).copyMap(m, 0) }

func (c *copier) isOver(depth int) bool { return depth > maxOwnDepth || c.values > MaxMessageBytes }

func (c *copier) copyMap(m map[string]interface{}, depth int) map[string]interface{} {
	if m == nil || c.isOver(depth) {
		return m
	}
	copied := make(map[string]interface{}, len(m))
	for key, value := range m {
		copied[key] = c.copyValue(value, depth+1)
	}
	return copied
}

func (c *copier) copyValue(value interface{}, depth int) interface{} {
	c.values++
	switch v := value.(type) {
	case map[string]interface{}:
		return c.copyMap(v, depth)
	case Properties:
		return c.copyMap(v, depth)
	case Traits:
		return c.copyMap(v, depth)
	case []interface{}:
		if v == nil || c.isOver(depth) {
			return v
		}
		copied := make([]interface{}, len(v))
		for i, element := range v {
			copied[i] = c.copyValue(element, depth+1)
		}
		return copied
	}
	return value
}
