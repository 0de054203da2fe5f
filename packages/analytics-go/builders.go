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

// SetValue sets value, an abstract value of the event.
func (p Properties) SetValue(value float64) Properties { return p.Set("value", value) }

// SetTotal sets total, with shipping, tax and discount.
func (p Properties) SetTotal(amount float64) Properties { return p.Set("total", amount) }

// SetSubtotal sets subtotal, with discount, without shipping and tax.
func (p Properties) SetSubtotal(amount float64) Properties { return p.Set("subtotal", amount) }

// SetShipping sets shipping, its cost.
func (p Properties) SetShipping(amount float64) Properties { return p.Set("shipping", amount) }

// SetTax sets tax.
func (p Properties) SetTax(amount float64) Properties { return p.Set("tax", amount) }

// SetDiscount sets discount.
func (p Properties) SetDiscount(amount float64) Properties { return p.Set("discount", amount) }

// SetCoupon sets coupon.
func (p Properties) SetCoupon(code string) Properties { return p.Set("coupon", code) }

// SetOrderId sets orderId.
func (p Properties) SetOrderId(id string) Properties { return p.Set("orderId", id) }

// SetProductId sets productId.
func (p Properties) SetProductId(id string) Properties { return p.Set("productId", id) }

// SetSKU sets sku.
func (p Properties) SetSKU(sku string) Properties { return p.Set("sku", sku) }

// SetName sets name.
func (p Properties) SetName(name string) Properties { return p.Set("name", name) }

// SetCategory sets category.
func (p Properties) SetCategory(category string) Properties { return p.Set("category", category) }

// SetPrice sets price.
func (p Properties) SetPrice(amount float64) Properties { return p.Set("price", amount) }

// SetQuantity sets quantity.
func (p Properties) SetQuantity(count int) Properties { return p.Set("quantity", count) }

// SetProducts sets products, each with properties such as productId, sku, name, price and quantity.
func (p Properties) SetProducts(products ...Properties) Properties {
	list := make([]interface{}, len(products))
	for i, product := range products {
		list[i] = map[string]interface{}(product)
	}
	return p.Set("products", list)
}

// SetPath sets path, of a page.
func (p Properties) SetPath(path string) Properties { return p.Set("path", path) }

// SetReferrer sets referrer, of a page.
func (p Properties) SetReferrer(url string) Properties { return p.Set("referrer", url) }

// SetTitle sets title, of a page.
func (p Properties) SetTitle(title string) Properties { return p.Set("title", title) }

// SetURL sets url, of a page.
func (p Properties) SetURL(url string) Properties { return p.Set("url", url) }

// Traits builds the traits of a user or a group, with the names that destinations know. It is a map, as [Properties].
type Traits map[string]interface{}

// NewTraits returns empty traits.
func NewTraits() Traits { return Traits{} }

// Set sets any trait.
func (t Traits) Set(name string, value interface{}) Traits {
	t[name] = value
	return t
}

// SetEmail sets email.
func (t Traits) SetEmail(address string) Traits { return t.Set("email", address) }

// SetName sets name, the full name.
func (t Traits) SetName(name string) Traits { return t.Set("name", name) }

// SetFirstName sets firstName.
func (t Traits) SetFirstName(name string) Traits { return t.Set("firstName", name) }

// SetLastName sets lastName.
func (t Traits) SetLastName(name string) Traits { return t.Set("lastName", name) }

// SetUsername sets username.
func (t Traits) SetUsername(name string) Traits { return t.Set("username", name) }

// SetPhone sets phone.
func (t Traits) SetPhone(number string) Traits { return t.Set("phone", number) }

// SetAge sets age.
func (t Traits) SetAge(years int) Traits { return t.Set("age", years) }

// SetGender sets gender.
func (t Traits) SetGender(gender string) Traits { return t.Set("gender", gender) }

// SetBirthday sets birthday, as a date: "1815-12-10".
func (t Traits) SetBirthday(day time.Time) Traits { return t.Set("birthday", day.Format("2006-01-02")) }

// SetCreatedAt sets createdAt, the time at which the account was created.
func (t Traits) SetCreatedAt(at time.Time) Traits {
	return t.Set("createdAt", at.UTC().Format(time.RFC3339))
}

// SetTitle sets title, such as the position in a company.
func (t Traits) SetTitle(title string) Traits { return t.Set("title", title) }

// SetAvatar sets avatar, the URL of a picture.
func (t Traits) SetAvatar(url string) Traits { return t.Set("avatar", url) }

// SetDescription sets description.
func (t Traits) SetDescription(text string) Traits { return t.Set("description", text) }

// SetWebsite sets website.
func (t Traits) SetWebsite(url string) Traits { return t.Set("website", url) }

// SetAddress sets address, with traits such as street, city, postalCode, state and country.
func (t Traits) SetAddress(address Traits) Traits {
	return t.Set("address", map[string]interface{}(address))
}

// SetIndustry sets industry, of a group.
func (t Traits) SetIndustry(industry string) Traits { return t.Set("industry", industry) }

// SetEmployees sets employees, the number of people in a group.
func (t Traits) SetEmployees(count int) Traits { return t.Set("employees", count) }

// SetPlan sets plan, to which a user or group has subscribed.
func (t Traits) SetPlan(plan string) Traits { return t.Set("plan", plan) }
