package analytics

// Message holds the fields that every message of the old library embedded. Its Timestamp and MessageId are used if the
// message's own are empty. Type and SentAt are set by the client and ignored here.
type Message struct {
	Type      string
	MessageId string
	Timestamp string
	SentAt    string
}

// Identify records the traits of a user. One of UserId and AnonymousId is required.
type Identify struct {
	// UserId is the user's id in your database.
	UserId string
	// AnonymousId identifies a user whose identity is unknown.
	AnonymousId string
	// Traits of the user, such as email.
	Traits map[string]interface{}
	// Context in addition to the user's traits, such as app or ip. All messages have it.
	Context map[string]interface{}
	// Integrations selects the destinations of the message: {"All": false, "Webhooks": true}, or
	// by id {"Webhooks": map[string]bool{"crm": false}}. Default: all destinations.
	Integrations map[string]interface{}
	// Timestamp is the time of the event in ISO 8601. Set it to import past events. Default: now.
	Timestamp string
	// MessageId identifies the message, in up to 100 characters. A message that is sent twice counts once. Default:
	// generated.
	MessageId string
	Message
}

// Track records an action of a user. Event, and one of UserId and AnonymousId, are required.
type Track struct {
	UserId      string
	AnonymousId string
	// Event is the name of the event, such as "Order Completed".
	Event        string
	Properties   map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Page records a view of a web page. One of UserId and AnonymousId is required.
type Page struct {
	UserId      string
	AnonymousId string
	Category    string
	Name        string
	// Traits of the page. url, title, referrer and path are recognised, and others are kept. On the wire they are
	// "properties".
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Screen records a view of a screen in an app. One of UserId and AnonymousId is required.
type Screen struct {
	UserId       string
	AnonymousId  string
	Category     string
	Name         string
	Properties   map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Group adds a user to a group, such as a company. GroupId, and one of UserId and AnonymousId, are required.
type Group struct {
	UserId      string
	AnonymousId string
	GroupId     string
	// Traits of the group, such as name, description, industry or employee count.
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Alias records that two ids belong to the same user. Both are required.
type Alias struct {
	// UserId is the new id.
	UserId string
	// PreviousId is the previous id of the user, such as an anonymous one.
	PreviousId   string
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// The methods below return the fields of a message; its maps are shared. They are called on the concrete types: through an
// interface the message would escape to the heap, one allocation for each call.

func (m *Identify) call() (call Call) {
	call.Type, call.isMissing = "identify", m == nil
	if m != nil {
		call.UserId, call.AnonymousId = m.UserId, m.AnonymousId
		call.Traits = m.Traits
		call.Context, call.Integrations = m.Context, m.Integrations
		call.stamp(m.MessageId, m.Timestamp, &m.Message)
	}
	return call
}

func (m *Track) call() (call Call) {
	call.Type, call.isMissing = "track", m == nil
	if m != nil {
		call.UserId, call.AnonymousId = m.UserId, m.AnonymousId
		call.Event, call.Properties = m.Event, m.Properties
		call.Context, call.Integrations = m.Context, m.Integrations
		call.stamp(m.MessageId, m.Timestamp, &m.Message)
	}
	return call
}

func (m *Page) call() (call Call) {
	call.Type, call.isMissing = "page", m == nil
	if m != nil {
		call.UserId, call.AnonymousId = m.UserId, m.AnonymousId
		call.Category, call.Name, call.Properties = m.Category, m.Name, m.Traits
		call.Context, call.Integrations = m.Context, m.Integrations
		call.stamp(m.MessageId, m.Timestamp, &m.Message)
	}
	return call
}

func (m *Screen) call() (call Call) {
	call.Type, call.isMissing = "screen", m == nil
	if m != nil {
		call.UserId, call.AnonymousId = m.UserId, m.AnonymousId
		call.Category, call.Name, call.Properties = m.Category, m.Name, m.Properties
		call.Context, call.Integrations = m.Context, m.Integrations
		call.stamp(m.MessageId, m.Timestamp, &m.Message)
	}
	return call
}

func (m *Group) call() (call Call) {
	call.Type, call.isMissing = "group", m == nil
	if m != nil {
		call.UserId, call.AnonymousId = m.UserId, m.AnonymousId
		call.GroupId, call.Traits = m.GroupId, m.Traits
		call.Context, call.Integrations = m.Context, m.Integrations
		call.stamp(m.MessageId, m.Timestamp, &m.Message)
	}
	return call
}

func (m *Alias) call() (call Call) {
	call.Type, call.isMissing = "alias", m == nil
	if m != nil {
		call.UserId, call.PreviousId = m.UserId, m.PreviousId
		call.Context, call.Integrations = m.Context, m.Integrations
		call.stamp(m.MessageId, m.Timestamp, &m.Message)
	}
	return call
}

// stamp sets what a message has itself, or else what it has from the old library.
func (call *Call) stamp(messageId, timestamp string, old *Message) {
	if messageId == "" {
		messageId = old.MessageId
	}
	if timestamp == "" {
		timestamp = old.Timestamp
	}
	call.MessageId, call.Timestamp = messageId, timestamp
}
