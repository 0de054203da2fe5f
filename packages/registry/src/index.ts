export type { RegistrySettings } from './client.ts';
export {
  magicByte,
  noRegistry,
  openRegistry,
  type FrameReader,
  type FrameReading,
  type Registry,
} from './registry.ts';
export { registerSubject, type SubjectReport } from './subject.ts';
