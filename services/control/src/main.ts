/** The process of control. */
import { runService } from '@tailrace/service';
import { control } from './open.ts';

await runService(control, process.env);
