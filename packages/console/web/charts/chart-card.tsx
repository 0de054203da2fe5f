import { Card } from '../parts/card.tsx';
import { Chart, type ChartProps } from './chart.tsx';

/** A card with a chart alone. */
export function ChartCard({ title, ...chart }: Omit<ChartProps, 'label'> & { readonly title: string }) {
  return (
    <Card title={title}>
      <Chart label={title} {...chart} />
    </Card>
  );
}
