/** The transform of a destination: its editor, and a call on which it is run before it is saved. */
import { useState } from 'preact/hooks';
import type { Schema } from '../../../api/client.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { CodeField } from '../../../parts/code-field.tsx';
import { Form } from '../../../parts/entry-form.tsx';
import { problemOf } from '../../../parts/field.tsx';
import { useEntryForm, type Loss, type VersionProps } from '../../../versions/change.ts';
import { ConflictCard } from '../../../versions/conflict.tsx';
import { omit } from '../../../versions/omit.ts';
import type { Destination } from '../draft.ts';
import { requests } from '../requests.ts';
import { TryTransform } from './try.tsx';

const words = {
  lead: 'A JavaScript function that makes the body of each request. It gets the webhook body, and returns another one, or null to deliver nothing. To add headers or to choose one URL, return { body, headers, url }.',
  hint: 'Tab leaves the editor. Ctrl+] and Ctrl+[ indent the line. No network, no imports, 10 ms of CPU time.',
};

const begin = `(event) => ({
  text: \`\${event.userId ?? event.anonymousId}: \${event.event ?? event.type}\`,
})
`;

export function TransformPart(props: VersionProps<Destination>) {
  const form = useEntryForm(props, requests, ({ transform }) => ({ code: transform?.code ?? begin }), lossOf);
  const { draft, setDraft, base, change } = form;
  const { data } = base;
  const [result, setResult] = useState<Schema['TransformTestResult']>();
  const { divergence } = change;
  if (divergence) {
    return <ConflictCard kind="destination" change={change} divergence={divergence} />;
  }
  const refused = problemOf(change.error, 'transform.code');
  const failure = result?.error;
  return (
    <div class="stack">
      <Card title="Transform">
        <Form
          state={change}
          onSubmit={() => change.save({ ...data, transform: { ...data.transform, code: draft.code } })}
          action="Save transform"
          kind="main-action"
          wide
          beside={
            data.transform && (
              <>
                <Button onClick={() => change.save(omit(data, 'transform'))}>Remove transform</Button>
                <span class="quiet">Version {data.transform.version} is in use.</span>
              </>
            )
          }
        >
          <p class="quiet">{words.lead}</p>
          <CodeField
            label="Code"
            hint={words.hint}
            value={draft.code}
            onValue={(code) => setDraft({ code })}
            problem={refused}
            line={refused === undefined ? failure?.line : lineIn(refused)}
          />
        </Form>
      </Card>
      <TryTransform destination={data} code={draft.code} result={result} onResult={setResult} />
    </div>
  );
}

/** Without a question: the form is about what is delivered. */
function lossOf(_before: Destination, { transform }: Destination): Loss<Destination> | undefined {
  return transform && { fields: ['transform'] };
}

/** `Has a syntax error in line 3: …` */
function lineIn(rule: string): number | undefined {
  const [, line] = /\bline (\d+)/.exec(rule) ?? [];
  return line === undefined ? undefined : Number(line);
}
