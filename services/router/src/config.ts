/** The settings of the router; README.md says what each is for. */
import { kafkaSettings, serviceSettings, topicPrefix } from '@tailrace/service';

export const settings = {
  ...serviceSettings({ metricsPort: 9465 }),
  kafka: kafkaSettings('tailrace-router'),
  topicPrefix: topicPrefix(),
};
