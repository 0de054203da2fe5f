/** Builds the condition of a filter from groups and tests. Its state is the JSON of the form, so both can be edited. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../parts/button.tsx';
import { Select } from '../../../parts/field.tsx';
import {
  conditionOf,
  linesOf,
  newTest,
  nodeOf,
  operators,
  typedOf,
  valuesOf,
  withOperator,
  type Condition,
  type Group,
  type Node,
  type Operator,
  type Scalar,
  type Test,
} from './condition.ts';

const words = {
  senses: {
    all: 'all of these hold',
    any: 'at least one of these holds',
    'not-all': 'not all of these hold',
    'not-any': 'none of these hold',
  },
  operators: {
    equals: 'equals',
    oneOf: 'is one of',
    contains: 'contains',
    startsWith: 'starts with',
    exists: 'exists',
    missing: 'does not exist',
    lessThan: 'is less than',
    atMost: 'is at most',
    greaterThan: 'is greater than',
    atLeast: 'is at least',
  },
};

interface BuilderProps {
  /** Undefined where there is none. */
  readonly condition: Condition | undefined;
  readonly onCondition: (condition: Condition | undefined) => void;
  /** Paths of fields. */
  readonly suggestions: readonly string[];
}

export function ConditionBuilder({ condition, onCondition, suggestions }: BuilderProps) {
  const list = useId();
  const element = useRef<HTMLDivElement>(null);
  /** The path of the test that was added, whose field gets the focus when it is there. */
  const added = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const field = element.current?.querySelector<HTMLElement>(`[data-path="${added.current ?? ''}"]`);
    if (!field) return;
    added.current = undefined;
    field.focus();
  });
  const node = condition && nodeOf(condition);
  if (condition && !node) return <p class="quiet">This condition can only be edited as JSON below.</p>;
  const put = (next: Node | undefined): void => onCondition(next && conditionOf(next));
  const willFocus = (path: string, one: Node): void => {
    added.current = one.kind === 'group' ? `${path}.1` : path;
  };
  const add = (one: Node): void => {
    put(node ? { kind: 'group', isNegated: false, of: 'all', items: [node, one] } : one);
    willFocus(node ? '1.2' : '1', one);
  };
  return (
    <div ref={element} class="stack tight" role="group" aria-label="Condition builder">
      {node && <NodeFields node={node} path="1" list={list} onNode={put} onAdded={willFocus} />}
      {node?.kind !== 'group' && <Adders onAdd={add} />}
      <datalist id={list}>
        {suggestions.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </div>
  );
}

interface NodeProps<Of> {
  readonly node: Of;
  /** Its place, as `1.2`, which tells its fields from those of others. */
  readonly path: string;
  /** The id of the suggestions. */
  readonly list: string;
  /** Undefined removes it. */
  readonly onNode: (node: Node | undefined) => void;
  /** Called with the place of a node that was added. */
  readonly onAdded: (path: string, added: Node) => void;
}

function NodeFields({ node, ...rest }: NodeProps<Node>) {
  return node.kind === 'group' ? <GroupFields node={node} {...rest} /> : <TestFields node={node} {...rest} />;
}

function GroupFields({ node, path, list, onNode, onAdded }: NodeProps<Group>) {
  const { of, isNegated, items } = node;
  const setItem = (index: number, item: Node | undefined): void => {
    const next = items.flatMap((one, at) => (at === index ? (item ?? []) : [one]));
    onNode(next.length === 0 ? undefined : { ...node, items: next });
  };
  return (
    <div class="condition-group" role="group" aria-label={`Group ${path}`}>
      <div class="condition-head">
        <Select
          aria-label={`Combination of group ${path}`}
          value={`${isNegated ? 'not-' : ''}${of}` as const}
          choices={Object.entries(words.senses)}
          onValue={(sense) => {
            onNode({
              ...node,
              isNegated: sense.startsWith('not-'),
              of: sense.endsWith('any') ? 'any' : 'all',
            });
          }}
        />
        <Remove label={`Remove group ${path}`} onNode={onNode} />
      </div>
      <ol class="stack tight">
        {items.map((item, index) => (
          <li key={index}>
            <NodeFields
              node={item}
              path={`${path}.${index + 1}`}
              list={list}
              onNode={(next) => setItem(index, next)}
              onAdded={onAdded}
            />
          </li>
        ))}
      </ol>
      <Adders
        path={path}
        onAdd={(added) => {
          onNode({ ...node, items: [...items, added] });
          onAdded(`${path}.${items.length + 1}`, added);
        }}
      />
    </div>
  );
}

function TestFields({ node, path, list, onNode }: NodeProps<Test>) {
  const { isNegated, field, operator, value } = node;
  return (
    <div class="condition-test" role="group" aria-label={`Condition ${path}`}>
      <Select
        aria-label={`Sense of condition ${path}`}
        value={isNegated ? 'not' : ''}
        choices={[
          ['', 'if'],
          ['not', 'if not'],
        ]}
        onValue={(sense) => onNode({ ...node, isNegated: sense === 'not' })}
      />
      <input
        class="input mono"
        data-path={path}
        aria-label={`Field of condition ${path}`}
        placeholder="properties.total"
        list={list}
        value={field}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget: { value } }) => onNode({ ...node, field: value })}
      />
      <Select
        aria-label={`Operator of condition ${path}`}
        value={operator}
        choices={operators.map((one) => [one, words.operators[one]])}
        onValue={(chosen) => onNode(withOperator(node, chosen))}
      />
      {operator !== 'exists' && operator !== 'missing' && (
        <Values
          label={`Value of condition ${path}`}
          values={Array.isArray(value) ? (value as readonly Scalar[]) : [value as Scalar]}
          operator={operator}
          onValues={(values) => onNode({ ...node, value: operator === 'oneOf' ? values : (values[0] ?? '') })}
        />
      )}
      <Remove label={`Remove condition ${path}`} onNode={onNode} />
    </div>
  );
}

interface ValuesProps {
  readonly label: string;
  readonly values: readonly Scalar[];
  /** With `oneOf` each line has a value. */
  readonly operator: Operator;
  readonly onValues: (values: readonly Scalar[]) => void;
}

/** Keeps what is typed while it means the value: `1.` is on its way to `1.5`. */
function Values({ label, values, operator, onValues }: ValuesProps) {
  const isList = operator === 'oneOf';
  const [typed, setTyped] = useState('');
  const isSame = JSON.stringify(valuesOf(typed, operator)) === JSON.stringify(values);
  const given = {
    class: 'input mono',
    'aria-label': label,
    value: isSame ? typed : isList ? linesOf(values) : typedOf(values[0] ?? ''),
    autocomplete: 'off' as const,
    spellcheck: false,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      setTyped(currentTarget.value);
      onValues(valuesOf(currentTarget.value, operator));
    },
  };
  return isList ? <textarea {...given} rows={Math.max(2, values.length)} /> : <input {...given} />;
}

function Adders({ path, onAdd }: { readonly path?: string; readonly onAdd: (added: Node) => void }) {
  const where = path === undefined ? '' : ` ${path}`;
  return (
    <div class="row">
      <Button small label={`Add a condition${where}`} onClick={() => onAdd(newTest)}>
        Add a condition
      </Button>
      <Button
        small
        label={`Add a group${where}`}
        onClick={() => onAdd({ kind: 'group', isNegated: false, of: 'any', items: [newTest] })}
      >
        Add a group
      </Button>
    </div>
  );
}

function Remove({ label, onNode }: { readonly label: string } & Pick<NodeProps<Node>, 'onNode'>) {
  return (
    <Button small kind="plain" label={label} onClick={() => onNode(undefined)}>
      ✕
    </Button>
  );
}
