/** A sample call, on which the filter of the form is tried before it is saved. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../../api/client.ts';
import { Card } from '../../../parts/card.tsx';
import { Json } from '../../../parts/code.tsx';
import { Form } from '../../../parts/entry-form.tsx';
import { problemOf } from '../../../parts/field.tsx';
import { useSubmission } from '../../../parts/form.ts';
import { Badge } from '../../../parts/status.tsx';
import { CallField } from '../call/call-field.tsx';
import { withTypedCall } from '../call/call.ts';
import { filterTypes, parseObject, type Filter } from './draft.ts';

const words = {
  filterBody: 'Webhook body that conditions are tested against',
};

interface TryProps {
  readonly id: string;
  readonly sources: readonly string[];
  /** The filter of the form; undefined for one without rules. */
  readonly filter: Filter | undefined;
  readonly isReadable: boolean;
  /** JSON. */
  readonly call: string;
  readonly onCall: (call: string) => void;
}

/** Tries the filter of the form, which need not be saved. */
export function TryFilter({ id, sources, filter, isReadable, call, onCall }: TryProps) {
  const [result, setResult] = useState<Schema['FilterTestResult']>();
  const submission = useSubmission();
  const parsed = parseObject(call);
  const submit = (): Promise<boolean> =>
    submission.run(async () => {
      setResult(undefined);
      if (parsed === 'not-json') return;
      // Without rules every call passes; without a filter the API would try the stored one.
      const body = { filter: filter ?? { types: [...filterTypes] }, call: parsed };
      const params = { path: { id } };
      const bodySerializer = withTypedCall(call);
      setResult(await ask(api.POST('/v1/destinations/{id}/filter/test', { params, body, bodySerializer })));
    });
  return (
    <Card title="Test filter">
      <div class="stack">
        <Form
          state={submission}
          onSubmit={submit}
          action="Test filter"
          disabled={parsed === 'not-json' || !isReadable}
          wide
        >
          <CallField
            label="Sample call"
            hint="A tracking call in JSON to test the rules with. Replace it with one of your own."
            value={call}
            onValue={onCall}
            problem={problemOf(submission.error, 'call')}
            sources={sources}
          />
        </Form>
        <div aria-live="polite" class="stack tight">
          {result && (
            <>
              <p>
                <Badge tone={result.passes ? 'good' : 'warning'}>
                  {result.passes
                    ? 'The destination would receive this call.'
                    : 'The destination would not receive this call.'}
                </Badge>
              </p>
              {result.rule && (
                <p>
                  Rule that does not match: <code>{result.rule.path}</code> {result.rule.text}
                </p>
              )}
              <details>
                <summary>{words.filterBody}</summary>
                <Json label={words.filterBody}>{result.body}</Json>
              </details>
            </>
          )}
        </div>
      </div>
    </Card>
  );
}
