/** Sends a file and reports how much of it was sent, which `fetch` cannot. */
import { send } from './client.ts';

/** A `fetch` of the client for one request, whose body is the file. Its signal ends it, also while bytes are sent. */
export function uploadOf(
  file: Blob,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): (request: Request) => Promise<Response> {
  return (request) => send(request, ({ method, url, headers }) => transfer(method, url, headers));

  function transfer(method: string, url: string, headers: Headers): Promise<Response> {
    return new Promise((resolve, reject) => {
      const sending = new XMLHttpRequest();
      const abort = (): void => sending.abort();
      sending.open(method, url);
      sending.responseType = 'blob';
      for (const [name, value] of headers) sending.setRequestHeader(name, value);
      sending.upload.onprogress = ({ loaded }) => onSent(loaded);
      sending.onload = () => resolve(answerOf(sending));
      sending.onerror = () => reject(new TypeError('The server does not answer.'));
      sending.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
      sending.onloadend = () => signal.removeEventListener('abort', abort);
      signal.addEventListener('abort', abort);
      sending.send(file);
    });
  }
}

function answerOf(sent: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const line of sent.getAllResponseHeaders().trim().split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const { status } = sent;
  return new Response(status === 204 ? null : (sent.response as Blob), { status, headers });
}
