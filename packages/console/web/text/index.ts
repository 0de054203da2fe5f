/** All text of the console, by area. The words are those of docs/glossary.md. */
import { common } from './common.ts';
import { errors } from './errors.ts';
import { access } from './access.ts';
import { destinations } from './destinations.ts';
import { people } from './people.ts';
import { sources } from './sources.ts';
import { deliveries } from './deliveries.ts';
import { filter } from './filter.ts';
import { filtered } from './filtered.ts';
import { replays } from './replays.ts';
import { overview } from './overview.ts';
import { reasons } from './reasons.ts';
import { shell } from './shell.ts';
import { status } from './status.ts';
import { versions } from './versions.ts';
import { why } from './why.ts';

export const text = {
  access,
  common,
  errors,
  deliveries,
  destinations,
  filter,
  filtered,
  overview,
  people,
  reasons,
  replays,
  shell,
  sources,
  status,
  versions,
  why,
};
