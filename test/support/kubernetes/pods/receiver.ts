/** A receiver of webhooks that writes the users of the events. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

createServer((request, response) => {
  void text(request).then((body) => {
    process.stdout.write(`${(JSON.parse(body) as { userId: string }).userId}\n`);
    response.end();
  });
}).listen(8080);
