/** The header `traceparent` of W3C Trace Context. It needs no library, so that it works where tracing is off. */

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
}

const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** A header of version 00 has 55 characters. Later versions may be longer; no known one needs more than this. */
const maxLength = 256;

/**
 * Reads the header by sections 3.2 and 4.3 of the specification: of a version that is not known, the fields of version 00
 * are read. Undefined where it is missing or invalid: a new trace starts then.
 */
export function readTraceparent(text: string | undefined): TraceParent | undefined {
  if (text === undefined || text.length > maxLength) return undefined;
  const [, version, traceId, spanId, flags, rest] = form.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header in version 00, which every reader understands. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The header as it is passed on: valid and in version 00, or undefined. */
export function validTraceparent(text: string | undefined): string | undefined {
  const parent = readTraceparent(text);
  return parent && formatTraceparent(parent);
}

/** The fields of a log line about work in a trace, with the names that OpenTelemetry gives them. */
export function traceFields(trace: Partial<Pick<TraceParent, 'traceId' | 'spanId'>> | undefined): {
  readonly trace_id?: string;
  readonly span_id?: string;
} {
  if (trace?.traceId === undefined) return {};
  return { trace_id: trace.traceId, ...(trace.spanId !== undefined && { span_id: trace.spanId }) };
}
