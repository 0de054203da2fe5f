import type { PageProps } from '../../url/location.ts';
import { Delivery } from './delivery.tsx';
import { DeliveryList } from './list.tsx';

export default function DeliveriesPage({ steps, query }: PageProps) {
  const [id] = steps;
  return id === undefined ? <DeliveryList query={query} /> : <Delivery id={id} />;
}
