/** Passes encoded bytes to the library. */
import { libraryModule } from './apply.ts';

/** A function of the library that makes a request, which encodes itself when it is sent. */
export type MakeEncoded<Options> = (options: Options) => { readonly encode: () => Promise<Encoder> };

interface Encoder {
  buf: Buffer;
  offset: number;
}

const Encoder = libraryModule('protocol/encoder') as new (size?: number) => Encoder;

/** Wraps the bytes for the library without copying them. */
export function encoderOf(bytes: Buffer): Encoder {
  const encoder = new Encoder(1);
  encoder.buf = bytes;
  encoder.offset = bytes.length;
  return encoder;
}
