/** A receiver of webhooks that writes the users of the events. Below `/slow` it answers after two seconds. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

createServer((request, response) => {
  void text(request).then(async (body) => {
    if (request.url === '/slow') await pause(2_000);
    process.stdout.write(`${(JSON.parse(body) as { userId: string }).userId}\n`);
    response.end();
  });
}).listen(8080);
