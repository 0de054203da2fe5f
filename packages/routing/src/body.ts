/** The webhook body for a destination: that of the event, or with `fields` what they make of it. */
import { hash } from 'node:crypto';
import { fieldSteps, type Destination, type Fields } from '@tailrace/config';
import { isRawNumber, webhookBody, webhookDocument, type TailraceEvent } from '@tailrace/events';

/** Makes another document, and changes nothing in the given one, which shares its objects with the event. */
type Shape = (document: object) => object;

interface Layout {
  readonly key: string;
  readonly shape: Shape;
}

const layouts = new WeakMap<Destination, Layout>();

function layoutOf(destination: Destination): Layout {
  let layout = layouts.get(destination);
  if (!layout) layouts.set(destination, (layout = compileLayout(destination)));
  return layout;
}

function compileLayout({ id, fields, transform, settings }: Destination): Layout {
  const contentType = transform ? 'json' : (settings.contentType ?? 'json');
  if (!fields) return { key: contentType, shape: (document) => document };
  const { salt = id } = fields;
  const key = JSON.stringify([contentType, fields, fields.hash && salt]);
  return { key, shape: compileFields(fields, salt) };
}

/** Destinations with the same key get the same body of each event. */
export function bodyKey(destination: Destination): string {
  return layoutOf(destination).key;
}

/** The body as it is sent: JSON, or with `contentType: form` the field `payload` of a form, with the JSON in it. */
export function encodeBody(
  json: string,
  { contentType }: Pick<Destination['settings'], 'contentType'>,
): Buffer {
  return Buffer.from(contentType === 'form' ? new URLSearchParams({ payload: json }).toString() : json);
}

/** The body as JSON text. */
export function bodyFor(event: TailraceEvent, destination: Destination): string {
  if (!destination.fields) return webhookBody(event);
  return webhookBody(event, layoutOf(destination).shape(webhookDocument(event)));
}

/** These stay, so that a receiver knows who did what, and when. */
const kept = [
  'version',
  'type',
  'userId',
  'anonymousId',
  'timestamp',
  'event',
  'groupId',
  'Previous ID',
  'User ID',
];
/** These are in a body also where nothing is left of them. */
const present = ['properties', 'traits'];

/** All paths are those of the whole body, so one walk applies them. */
function compileFields(
  { include, exclude = [], hash: hashed = [], rename = {} }: Fields,
  salt: string,
): Shape {
  const root = newNode();
  if (include) {
    for (const key of present) childOf(root, key).leads = true;
    for (const path of [...kept, ...include]) {
      const nodes = nodesOf(root, path);
      for (const node of nodes) node.leads = true;
      nodes.at(-1)?.marks.add('included');
    }
  }
  for (const path of exclude) {
    nodesOf(root, present.includes(path) ? `${path}.*` : path)
      .at(-1)
      ?.marks.add('excluded');
  }
  for (const path of hashed) nodesOf(root, path).at(-1)?.marks.add('hashed');
  for (const [path, name] of Object.entries(rename)) {
    const node = nodesOf(root, path).at(-1);
    if (node) node.name = name;
  }
  const place = { nodes: [root], included: !include, hashed: false, salt };
  return (document) => rewrite(document, place) as object;
}

type Mark = 'included' | 'excluded' | 'hashed';

/** A key of paths. `*` is every key of a mapping and every item of a list. */
interface Node {
  readonly children: Map<string, Node>;
  /** What becomes of what is here. */
  readonly marks: Set<Mark>;
  /** Whether a path of `include` ends here or below. */
  leads: boolean;
  /** The new key of what is here. */
  name: string | undefined;
}

function newNode(): Node {
  return { children: new Map(), marks: new Set(), leads: false, name: undefined };
}

function childOf({ children }: Node, key: string): Node {
  let child = children.get(key);
  if (!child) children.set(key, (child = newNode()));
  return child;
}

/** The nodes of the keys of a path, in order. */
function nodesOf(root: Node, path: string): readonly Node[] {
  let node = root;
  return (fieldSteps(path) ?? []).map((key) => (node = childOf(node, key)));
}

/** Where the walk is. */
interface Place {
  /** Those whose keys have led here. */
  readonly nodes: readonly Node[];
  readonly included: boolean;
  /** Whether it becomes part of a hash, which is that of values and keys as they were. */
  readonly hashed: boolean;
  readonly salt: string;
}

/** What is left of a value; undefined for nothing. */
function rewrite(value: unknown, place: Place): unknown {
  const isLeaf = typeof value !== 'object' || value === null || isRawNumber(value);
  if (isLeaf || place.nodes.length === 0) return place.included ? value : undefined;
  if (Array.isArray(value)) {
    return value
      .map((item, index) => change(item, String(index), place).value)
      .filter((item) => item !== undefined);
  }
  const entries: [key: string, value: unknown][] = [];
  const renamed: [key: string, value: unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const { value: changed, name } = change(inner, key, place);
    if (changed === undefined) continue;
    if (name === undefined) entries.push([key, changed]);
    else renamed.push([name, changed]);
  }
  // A renamed one replaces one that has its name. Not an assignment each: a key such as __proto__ is a key like any other.
  return Object.fromEntries([...entries, ...renamed]);
}

/** What becomes of the value of `key` in what is at `place`, and its new key. */
function change(
  inner: unknown,
  key: string,
  place: Place,
): { readonly value: unknown; readonly name?: string | undefined } {
  const nodes: Node[] = [];
  for (const { children } of place.nodes) {
    for (const child of [children.get(key), children.get('*')]) if (child) nodes.push(child);
  }
  if (nodes.length === 0) return { value: place.included ? inner : undefined };
  const has = (mark: Mark): boolean => nodes.some(({ marks }) => marks.has(mark));
  const included = place.included || has('included');
  // The document has the key of a field that the event lacks.
  const isGone = inner === undefined || has('excluded') || !(included || nodes.some(({ leads }) => leads));
  if (isGone) return { value: undefined };
  if (place.hashed) return { value: rewrite(inner, { ...place, nodes, included }) };
  const hashed = has('hashed');
  const left = rewrite(inner, { ...place, nodes, included, hashed });
  const name = nodes.find((node) => node.name !== undefined)?.name;
  return { value: hashed ? hashOf(left, place.salt) : left, name };
}

/** Null, which is no value, stays. Of a list or mapping the JSON is hashed. */
function hashOf(value: unknown, salt: string): unknown {
  if (value === null || value === undefined) return value;
  return hash('sha256', salt + (typeof value === 'string' ? value : JSON.stringify(value)));
}
