package analytics

import "time"

// Properties builds the properties of a track or screen call, with the names that destinations know:
//
//	analytics.NewProperties().SetOrderId("o-1").SetTotal(25.5).SetCurrency("USD").Set("gift", true)
//
// It is a map: every other key can be set as in a map.
type Properties map[string]interface{}

// NewProperties returns empty properties.
func NewProperties() Properties { return Properties{} }

// Set sets any property.
func (p Properties) Set(name string, value interface{}) Properties {
	p[name] = value
	return p
}

// SetRevenue sets revenue, which an event has brought in, without shipping and tax.
func (p Properties) SetRevenue(amount float64) Properties { return p.Set("revenue", amount) }

// SetCurrency sets currency, as ISO 4217 code: "USD".
func (p Properties) SetCurrency(code string) Properties { return p.Set("currency", code) }

// SetTotal sets total, with shipping, tax and discount.
func (p Properties) SetTotal(amount float64) Properties { return p.Set("total", amount) }

// SetSubtotal sets subtotal, with discount, without shipping and tax.
func (p Properties) SetSubtotal(amount float64) Properties { return p.Set("subtotal", amount) }

// SetValue sets value, an abstract value of the event.
func (p Properties) SetValue(value float64) Properties      { return p.Set("value", value) }
func (p Properties) SetShipping(amount float64) Properties  { return p.Set("shipping", amount) }
func (p Properties) SetTax(amount float64) Properties       { return p.Set("tax", amount) }
func (p Properties) SetDiscount(amount float64) Properties  { return p.Set("discount", amount) }
func (p Properties) SetCoupon(code string) Properties       { return p.Set("coupon", code) }
func (p Properties) SetOrderId(id string) Properties        { return p.Set("orderId", id) }
func (p Properties) SetProductId(id string) Properties      { return p.Set("productId", id) }
func (p Properties) SetSKU(sku string) Properties           { return p.Set("sku", sku) }
func (p Properties) SetName(name string) Properties         { return p.Set("name", name) }
func (p Properties) SetCategory(category string) Properties { return p.Set("category", category) }
func (p Properties) SetPrice(amount float64) Properties     { return p.Set("price", amount) }
func (p Properties) SetQuantity(count int) Properties       { return p.Set("quantity", count) }

// SetProducts sets products, each with properties such as productId, sku, name, price and quantity.
func (p Properties) SetProducts(products ...Properties) Properties {
	list := make([]interface{}, len(products))
	for i, product := range products {
		list[i] = map[string]interface{}(product)
	}
	return p.Set("products", list)
}

// SetPath sets path, of a page, as do the setters below.
func (p Properties) SetPath(path string) Properties    { return p.Set("path", path) }
func (p Properties) SetReferrer(url string) Properties { return p.Set("referrer", url) }
func (p Properties) SetTitle(title string) Properties  { return p.Set("title", title) }
func (p Properties) SetURL(url string) Properties      { return p.Set("url", url) }

// Traits builds the traits of a user or a group, with the names that destinations know. It is a map, as [Properties].
type Traits map[string]interface{}

// NewTraits returns empty traits.
func NewTraits() Traits { return Traits{} }

// Set sets any trait.
func (t Traits) Set(name string, value interface{}) Traits {
	t[name] = value
	return t
}

// SetName sets name, the full name.
func (t Traits) SetName(name string) Traits      { return t.Set("name", name) }
func (t Traits) SetFirstName(name string) Traits { return t.Set("firstName", name) }
func (t Traits) SetLastName(name string) Traits  { return t.Set("lastName", name) }
func (t Traits) SetUsername(name string) Traits  { return t.Set("username", name) }
func (t Traits) SetEmail(address string) Traits  { return t.Set("email", address) }
func (t Traits) SetPhone(number string) Traits   { return t.Set("phone", number) }
func (t Traits) SetAge(years int) Traits         { return t.Set("age", years) }
func (t Traits) SetGender(gender string) Traits  { return t.Set("gender", gender) }

// SetTitle sets title, such as the position in a company.
func (t Traits) SetTitle(title string) Traits { return t.Set("title", title) }

// SetAvatar sets avatar, the URL of a picture.
func (t Traits) SetAvatar(url string) Traits        { return t.Set("avatar", url) }
func (t Traits) SetWebsite(url string) Traits       { return t.Set("website", url) }
func (t Traits) SetDescription(text string) Traits  { return t.Set("description", text) }
func (t Traits) SetIndustry(industry string) Traits { return t.Set("industry", industry) }
func (t Traits) SetPlan(plan string) Traits         { return t.Set("plan", plan) }

// SetEmployees sets employees, the number of people in a group.
func (t Traits) SetEmployees(count int) Traits { return t.Set("employees", count) }

// SetBirthday sets birthday, as a date: "1815-12-10".
func (t Traits) SetBirthday(day time.Time) Traits { return t.Set("birthday", day.Format("2006-01-02")) }

// SetCreatedAt sets createdAt, the time at which the account was created.
func (t Traits) SetCreatedAt(at time.Time) Traits {
	return t.Set("createdAt", at.UTC().Format(time.RFC3339))
}

// SetAddress sets address, with traits such as street, city, postalCode, state and country.
func (t Traits) SetAddress(address Traits) Traits {
	return t.Set("address", map[string]interface{}(address))
}
