// Creates and updates contacts in HubSpot, by their e-mail address.
// URL: https://api.hubapi.com/crm/v3/objects/contacts/batch/upsert
// settings.auth: { token: env:HUBSPOT_TOKEN }. filter: { types: [identify] }

function transform({ type, userId, traits }) {
  if (type !== 'identify' || !traits.email) return null;
  const email = traits.email.trim().toLowerCase();
  const properties = {
    email,
    firstname: traits.firstName,
    lastname: traits.lastName,
    company: traits.company?.name ?? traits.company,
    phone: traits.phone,
    external_id: userId,
  };
  return { inputs: [{ idProperty: 'email', id: email, properties }] };
}
