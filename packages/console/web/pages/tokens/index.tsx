/** Tokens of the API: create, list, revoke. */
import { useState } from 'preact/hooks';
import { api, ask, type Schema } from '../../api/client.ts';
import { Action } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/card.tsx';
import { Once } from '../../parts/once.tsx';
import { useList } from '../../lists/pager.tsx';
import { Badge } from '../../parts/status.tsx';
import { MainCell, PagedTable, type Column } from '../../parts/table.tsx';
import { Ago, Time } from '../../parts/time.tsx';
import { text } from '../../text/index.ts';
import { CreateToken } from './create.tsx';
import { isolated } from '../../text/isolated.ts';

const words = {
  tokensEmptyLead:
    'Tokens from the settings (TAILRACE_API_TOKEN) are not listed. Create one for each person or program, so that the audit log shows who made each change.',
};

type Token = Schema['Token'];

export default function Tokens() {
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<string>();
  const pages = useList('/v1/tokens', {});
  const open = (): void => setCreating(true);
  const create = (
    <Button kind="main-action" onClick={open}>
      Create a token
    </Button>
  );
  return (
    <>
      <PageHead
        title={text.shell.pages.tokens}
        lead="Tokens for the management API and this console. A token is shown once, when you create it."
      >
        {create}
      </PageHead>
      <PagedTable
        label={text.shell.pages.tokens}
        columns={columnsOf(pages.reload)}
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty title="No tokens yet" lead={words.tokensEmptyLead} />}
      />
      {isCreating && (
        <CreateToken
          onClose={() => setCreating(false)}
          onMade={(token) => {
            setCreating(false);
            setMade(token);
            void pages.reload();
          }}
        />
      )}
      {made !== undefined && (
        <Once
          title="New token"
          lead="Copy it now. You will not be able to see it again."
          secret={made}
          onClose={() => setMade(undefined)}
        />
      )}
    </>
  );
}

function columnsOf(onRevoked: () => unknown): readonly Column<Token>[] {
  return [
    {
      title: 'Name',
      kind: 'main',
      cell: (token) => (
        <MainCell below={<ScopeAndRevoke token={token} onRevoked={onRevoked} />}>{token.name}</MainCell>
      ),
    },
    {
      title: 'Limited to',
      kind: 'wrap',
      cell: ({ sources, destinations }) =>
        [...(sources ?? []), ...(destinations ?? [])].join(', ') || 'everything',
    },
    { title: 'Expires', cell: expiryOf },
    {
      title: 'Created',
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} />
          <div class="quiet small">by {createdBy}</div>
        </>
      ),
    },
  ];
}

interface ScopeAndRevokeProps {
  readonly token: Token;
  readonly onRevoked: () => unknown;
}

function ScopeAndRevoke({ token: { id, name, scope }, onRevoked }: ScopeAndRevokeProps) {
  return (
    <>
      <Badge tone="accent">{scope}</Badge>
      <Action
        small
        kind="danger"
        label={`Revoke ${name}`}
        question={{
          title: `Revoke the token ${isolated(name)}?`,
          message: 'Requests and sessions that use it stop working within two seconds.',
        }}
        request={() => ask(api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }))}
        done="Token revoked."
        after={onRevoked}
      >
        Revoke
      </Action>
    </>
  );
}

function expiryOf({ expired, expiresAt }: Token) {
  if (expired) return <Badge tone="bad">expired</Badge>;
  return expiresAt === undefined ? 'never' : <Ago at={expiresAt} />;
}
