/** The process of ingest. */
import { runService } from '@tailrace/service';
import { ingest } from './open.ts';

await runService(ingest, process.env);
