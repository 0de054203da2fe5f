package analytics

// Message holds the fields that every message of the old library embedded. Its Timestamp and MessageId count where the message's
// own are empty; Type and SentAt are the client's to say, and are ignored.
type Message struct {
	Type      string
	MessageId string
	Timestamp string
	SentAt    string
}

// Identify tells who a user is. One of UserId and AnonymousId is required.
type Identify struct {
	// UserId is the user's id in your database.
	UserId string
	// AnonymousId names a user whose identity is unknown.
	AnonymousId string
	// Traits of the user, such as email.
	Traits map[string]interface{}
	// Context beside the user's traits, such as app or ip. All messages have it.
	Context map[string]interface{}
	// Integrations says which destinations receive the message: {"All": false, "Webhooks": true}. All do where it is empty.
	Integrations map[string]interface{}
	// Timestamp is when it happened, in ISO 8601, to import what is past. It happens now where it is empty.
	Timestamp string
	// MessageId names the message, in up to 100 characters; the same message sent twice counts once. Made where it is empty.
	MessageId string
	Message
}

// Track tells what a user did. Event, and one of UserId and AnonymousId, are required.
type Track struct {
	UserId      string
	AnonymousId string
	// Event is what happened: "Order Completed".
	Event        string
	Properties   map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Page tells that a user saw a web page. One of UserId and AnonymousId is required.
type Page struct {
	UserId      string
	AnonymousId string
	Category    string
	Name        string
	// Traits of the page. url, title, referrer and path are known everywhere; others are welcome. They are its "properties" on the
	// wire.
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Screen tells that a user saw a screen of an app. One of UserId and AnonymousId is required.
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

// Group puts a user into a group, such as a company. GroupId, and one of UserId and AnonymousId, are required.
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

// Alias tells that two ids are of the same user. Both are required.
type Alias struct {
	// UserId is the new id.
	UserId string
	// PreviousId is the id the user had, such as an anonymous one.
	PreviousId   string
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// The methods below write their message into an encoder. They are called on the concrete types, because through an interface the
// message would escape to the heap: one allocation for each call.

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
