/** The process of control. */
import { constants, setPriority } from 'node:os';
import { runService } from '@tailrace/service';
import { control } from './open.ts';

// Events flow without control. On processors that it shares with the services they flow through, these come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
await runService(control, process.env);
