/** The process of the delivery service. */
import { runService } from '@tailrace/service';
import { delivery } from './open.ts';

await runService(delivery, process.env);
