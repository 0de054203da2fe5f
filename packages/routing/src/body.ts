/** The webhook body for a destination: that of the event, or with `fields` what they make of it. */
import { hash } from 'node:crypto';
import { fieldSteps, type Destination, type Fields } from '@tailrace/config';
import { isRawNumber, webhookBody, webhookDocument, type TailraceEvent } from '@tailrace/events';

/** Makes another document, and changes nothing in the given one, which shares its objects with the event. */
type Shape = (document: object) => object;

const shapes = new WeakMap<Destination, Shape>();

/** The body as it is sent: JSON, or with `contentType: form` the field `payload` of a form, with the JSON in it. */
export function encodeBody(json: string, { contentType }: Destination['settings']): Buffer {
  return Buffer.from(contentType === 'form' ? new URLSearchParams({ payload: json }).toString() : json);
}

/** The body as JSON text. */
export function bodyFor(event: TailraceEvent, destination: Destination): string {
  if (!destination.fields) return webhookBody(event);
  let shape = shapes.get(destination);
  if (!shape) shapes.set(destination, (shape = compileFields(destination.fields, destination.id)));
  return webhookBody(event, shape(webhookDocument(event)));
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

/** The paths of all fields are those of the whole body, so what is renamed comes last. */
function compileFields({ include, exclude, hash: hashed, salt, rename }: Fields, id: string): Shape {
  const passes: Pass[] = [];
  if (include) {
    const tree = treeOf([...kept, ...include]);
    for (const key of present) branchOf(tree, key);
    passes.push({ tree, named: same, other: () => undefined });
  }
  if (exclude) {
    const tree = treeOf(exclude.map((path) => (present.includes(path) ? `${path}.*` : path)));
    passes.push({ tree, named: () => undefined, other: same });
  }
  if (hashed) {
    passes.push({ tree: treeOf(hashed), named: (value) => hashOf(value, salt ?? id), other: same });
  }
  if (rename) {
    const tree = newTree();
    for (const [path, name] of Object.entries(rename)) leafOf(tree, path).name = name;
    passes.push({ tree, named: same, other: same });
  }
  return (document) => passes.reduce((value, pass) => rewrite(value, [pass.tree], pass) as object, document);
}

function same(value: unknown): unknown {
  return value;
}

/** Null, which is no value, stays. Of a list or mapping the JSON is hashed. */
function hashOf(value: unknown, salt: string): unknown {
  if (value === null) return null;
  return hash('sha256', salt + (typeof value === 'string' ? value : JSON.stringify(value)));
}

/** Paths by their keys. `*` is every key of a mapping and every item of a list. */
interface Tree {
  readonly branches: Map<string, Tree>;
  /** Whether a path ends here. */
  isLeaf: boolean;
  /** The new key of what is here. */
  name: string | undefined;
}

function newTree(): Tree {
  return { branches: new Map(), isLeaf: false, name: undefined };
}

function branchOf({ branches }: Tree, key: string): Tree {
  let branch = branches.get(key);
  if (!branch) branches.set(key, (branch = newTree()));
  return branch;
}

function leafOf(tree: Tree, path: string): Tree {
  const leaf = (fieldSteps(path) ?? []).reduce(branchOf, tree);
  leaf.isLeaf = true;
  return leaf;
}

function treeOf(paths: readonly string[]): Tree {
  const tree = newTree();
  for (const path of paths) leafOf(tree, path);
  return tree;
}

interface Pass {
  readonly tree: Tree;
  /** What becomes of a value whose path is in the tree; undefined removes it. */
  readonly named: (value: unknown) => unknown;
  /** What becomes of a value to which no path leads. */
  readonly other: (value: unknown) => unknown;
}

/** @param trees those whose paths have led to this value */
function rewrite(value: unknown, trees: readonly Tree[], pass: Pass): unknown {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return pass.other(value);
  const change = (inner: unknown, below: readonly Tree[]): unknown => {
    // The document has the key of a field that the event lacks.
    if (inner === undefined) return undefined;
    if (below.length === 0) return pass.other(inner);
    return below.some(({ isLeaf }) => isLeaf) ? pass.named(inner) : rewrite(inner, below, pass);
  };
  if (Array.isArray(value)) {
    return value
      .map((item, index) => change(item, branchesAt(trees, String(index))))
      .filter((item) => item !== undefined);
  }
  const entries: [key: string, value: unknown][] = [];
  const renamed: [key: string, value: unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const below = branchesAt(trees, key);
    const changed = change(inner, below);
    const name = below.find((tree) => tree.name !== undefined)?.name;
    if (changed === undefined) continue;
    if (name === undefined) entries.push([key, changed]);
    else renamed.push([name, changed]);
  }
  // A renamed one replaces one that has its name. Not an assignment each: a key such as __proto__ is a key like any other.
  return Object.fromEntries([...entries, ...renamed]);
}

function branchesAt(trees: readonly Tree[], key: string): Tree[] {
  return trees.flatMap(({ branches }) => {
    const found = [branches.get(key), branches.get('*')];
    return found.filter((branch) => branch !== undefined);
  });
}
