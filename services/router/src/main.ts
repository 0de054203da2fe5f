/** The process of the router. */
import { runService } from '@tailrace/service';
import { router } from './open.ts';

await runService(router, process.env);
