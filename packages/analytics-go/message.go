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
	// Integrations selects the destinations of the message: {"All": false, "Webhooks": true}. Default: all destinations.
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

// The methods below write their message into an encoder. They are called on the concrete types. Through an interface
// the message would escape to the heap, one allocation for each call.

func (m *Identify) encode(e *encoder) error {
	switch {
	case m == nil:
		return missingMessage("Identify")
	case m.UserId == "" && m.AnonymousId == "":
		return missingUser("Identify")
	}
	e.begin("Identify", `{"type":"identify"`)
	e.stamp(m.MessageId, m.Timestamp, &m.Message)
	e.text(`,"userId":`, m.UserId)
	e.text(`,"anonymousId":`, m.AnonymousId)
	e.object(`,"traits":`, "Traits", m.Traits)
	return e.end(m.Context, m.Integrations)
}

func (m *Track) encode(e *encoder) error {
	switch {
	case m == nil:
		return missingMessage("Track")
	case m.Event == "":
		return missing("Track", "Event")
	case m.UserId == "" && m.AnonymousId == "":
		return missingUser("Track")
	}
	e.begin("Track", `{"type":"track"`)
	e.stamp(m.MessageId, m.Timestamp, &m.Message)
	e.text(`,"userId":`, m.UserId)
	e.text(`,"anonymousId":`, m.AnonymousId)
	e.text(`,"event":`, m.Event)
	e.object(`,"properties":`, "Properties", m.Properties)
	return e.end(m.Context, m.Integrations)
}

func (m *Page) encode(e *encoder) error {
	switch {
	case m == nil:
		return missingMessage("Page")
	case m.UserId == "" && m.AnonymousId == "":
		return missingUser("Page")
	}
	e.begin("Page", `{"type":"page"`)
	e.stamp(m.MessageId, m.Timestamp, &m.Message)
	e.text(`,"userId":`, m.UserId)
	e.text(`,"anonymousId":`, m.AnonymousId)
	e.text(`,"category":`, m.Category)
	e.text(`,"name":`, m.Name)
	e.object(`,"properties":`, "Traits", m.Traits)
	return e.end(m.Context, m.Integrations)
}

func (m *Screen) encode(e *encoder) error {
	switch {
	case m == nil:
		return missingMessage("Screen")
	case m.UserId == "" && m.AnonymousId == "":
		return missingUser("Screen")
	}
	e.begin("Screen", `{"type":"screen"`)
	e.stamp(m.MessageId, m.Timestamp, &m.Message)
	e.text(`,"userId":`, m.UserId)
	e.text(`,"anonymousId":`, m.AnonymousId)
	e.text(`,"category":`, m.Category)
	e.text(`,"name":`, m.Name)
	e.object(`,"properties":`, "Properties", m.Properties)
	return e.end(m.Context, m.Integrations)
}

func (m *Group) encode(e *encoder) error {
	switch {
	case m == nil:
		return missingMessage("Group")
	case m.GroupId == "":
		return missing("Group", "GroupId")
	case m.UserId == "" && m.AnonymousId == "":
		return missingUser("Group")
	}
	e.begin("Group", `{"type":"group"`)
	e.stamp(m.MessageId, m.Timestamp, &m.Message)
	e.text(`,"userId":`, m.UserId)
	e.text(`,"anonymousId":`, m.AnonymousId)
	e.text(`,"groupId":`, m.GroupId)
	e.object(`,"traits":`, "Traits", m.Traits)
	return e.end(m.Context, m.Integrations)
}

func (m *Alias) encode(e *encoder) error {
	switch {
	case m == nil:
		return missingMessage("Alias")
	case m.UserId == "":
		return missing("Alias", "UserId")
	case m.PreviousId == "":
		return missing("Alias", "PreviousId")
	}
	e.begin("Alias", `{"type":"alias"`)
	e.stamp(m.MessageId, m.Timestamp, &m.Message)
	e.text(`,"userId":`, m.UserId)
	e.text(`,"previousId":`, m.PreviousId)
	return e.end(m.Context, m.Integrations)
}

func missing(message, field string) error {
	return &FieldError{Type: message, Field: field, Reason: "is required"}
}

func missingUser(message string) error {
	return &FieldError{Type: message, Field: "UserId", Reason: "is required where there is no AnonymousId"}
}

func missingMessage(message string) error {
	return &FieldError{Type: "Client", Field: message, Reason: "needs a message, and got nil"}
}
