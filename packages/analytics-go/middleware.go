package analytics

import "context"

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

	// Whether there is no message: the program passed nil.
	isMissing bool
}

// enqueueChanged passes a call through the middleware. It allocates, unlike a call without middleware.
func (c *Client) enqueueChanged(ctx context.Context, e *encoder, call Call) error {
	kind := call.Type
	call.Properties, call.Traits = copyMap(call.Properties), copyMap(call.Traits)
	call.Context, call.Integrations = copyMap(call.Context), copyMap(call.Integrations)
	keep, err := c.change(&call)
	if err != nil {
		return c.add(ctx, e, err)
	}
	if !keep {
		e.free()
		c.dropped.Add(1)
		return nil
	}
	call.Type = kind
	return c.add(ctx, e, e.encode(&call))
}

func (c *Client) change(call *Call) (keep bool, err error) {
	defer asError(&err, "analytics: a middleware panicked")
	for _, middleware := range c.Middleware {
		if !middleware(call) {
			return false, nil
		}
	}
	return true, nil
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
