/** Writes docs/metrics.md. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { renderMetrics } from './metrics-reference.ts';

writeFileSync(path.join(import.meta.dirname, 'metrics.md'), renderMetrics());
