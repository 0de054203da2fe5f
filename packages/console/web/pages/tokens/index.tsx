/** Tokens of the API: create, list, revoke. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { Once } from '../../parts/once.tsx';
import { useList } from '../../lists/pager.tsx';
import { Badge } from '../../parts/status.tsx';
import { PagedTable, type Column } from '../../parts/table.tsx';
import { Ago, Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { CreateToken } from './create.tsx';

const words = text.access;
type Token = Schema['Token'];

export default function Tokens() {
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<string>();
  const pages = useList('/v1/tokens', {});
  const open = (): void => {
    setCreating(true);
  };
  const create = (
    <Button kind="main-action" onClick={open}>
      {words.createToken}
    </Button>
  );
  return (
    <>
      <PageHead title={text.shell.pages.tokens} lead={words.tokensLead}>
        {create}
      </PageHead>
      <PagedTable
        label={text.shell.pages.tokens}
        columns={columnsOf(pages.reload)}
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title={words.tokensEmpty} lead={words.tokensEmptyLead} />}
      />
      {isCreating && (
        <CreateToken
          onClose={() => {
            setCreating(false);
          }}
          onMade={(token) => {
            setCreating(false);
            setMade(token);
            void pages.reload();
          }}
        />
      )}
      {made !== undefined && (
        <Once
          title={words.newToken}
          lead={words.newTokenLead}
          secret={made}
          onClose={() => {
            setMade(undefined);
          }}
        />
      )}
    </>
  );
}

function columnsOf(onRevoked: () => unknown): readonly Column<Token>[] {
  return [
    { title: words.tokenName, kind: 'wrap', cell: ({ name }) => name },
    { title: words.scope, cell: ({ scope }) => <Badge tone="accent">{scope}</Badge> },
    {
      title: words.limits,
      kind: 'wrap',
      cell: ({ sources, destinations }) =>
        [...(sources ?? []), ...(destinations ?? [])].join(', ') || words.unlimited,
    },
    { title: words.expires, cell: expiryOf },
    { title: words.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { title: words.by, cell: ({ createdBy }) => createdBy, kind: 'wrap' },
    {
      title: text.common.actions,
      cell: ({ id, name }) => (
        <Action
          small
          kind="danger"
          label={`${words.revoke} ${name}`}
          question={{ title: words.revokeTitle(name), message: words.revokeMessage }}
          request={() => ask(api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }))}
          done={words.revoked}
          after={onRevoked}
        >
          {words.revoke}
        </Action>
      ),
    },
  ];
}

function expiryOf({ expired, expiresAt }: Token) {
  if (expired) return <Badge tone="bad">{words.expired}</Badge>;
  return expiresAt === undefined ? words.never : <Ago at={expiresAt} />;
}
