export type { RegistrySettings } from './client.ts';
export { magicByte, noRegistry, openRegistry, type FrameReader } from './registry.ts';
export { registerSubject, type SubjectReport } from './subject.ts';
