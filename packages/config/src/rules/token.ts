/**
 * The JSON Schema of a token of the API. The token itself is never stored: its SHA-256 is enough to recognise it, because a
 * token has 256 random bits and cannot be guessed from it.
 */
import Type, { type Static } from 'typebox';

/** `read` sees masked values, `write` changes sources and destinations, `admin` may also manage tokens and keys. */
export const tokenScopes = ['read', 'write', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** Each control instance keeps all tokens in memory. */
export const maxTokens = 1_000;

const time = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT',
  maxLength: 40,
  description: 'a time in ISO 8601',
});
const ids = (what: string) =>
  Type.Array(
    Type.String({
      pattern: '^[a-zA-Z0-9_-]{1,64}$',
      description: `the id of a ${what}`,
    }),
    {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: `a list of 1 to 100 ids of ${what}s`,
    },
  );

/** What the creator of a token chooses; to be spread into a schema. */
export const tokenChoices = {
  name: Type.String({
    pattern: '^[^\\u0000-\\u001f\\u007f]{1,100}$',
    description: 'a text of 1 to 100 characters without control characters',
  }),
  scope: Type.Enum([...tokenScopes], { description: 'read, write or admin' }),
  sources: Type.Optional(ids('source')),
  destinations: Type.Optional(ids('destination')),
};

export const tokenSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f]{12}$', description: '12 digits in hex' }),
    ...tokenChoices,
    hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'the SHA-256 of the token in hex' }),
    createdAt: time,
    createdBy: Type.String({ maxLength: 200, description: 'the name of the token that created it' }),
    expiresAt: Type.Optional(time),
  },
  { additionalProperties: false, description: 'a token' },
);

/** A token of the API. With `sources` or `destinations` it reaches only the entries that they name. */
export type Token = Readonly<Static<typeof tokenSchema>>;
