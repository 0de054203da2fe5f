export {
  failureText,
  transformLimits,
  type TransformFailure,
  type TransformResult,
  type TransformRun,
} from './run.ts';
export { transformAgain, type AgainDependencies } from './transform-again.ts';
export {
  checkedResult,
  hasTransform,
  transformDelivery,
  withFailure,
  type Transforming,
} from './transform-delivery.ts';
export { Transforms, type TransformsOptions } from './transforms.ts';
