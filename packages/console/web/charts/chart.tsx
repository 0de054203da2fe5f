/** A time series. uPlot is loaded with the first chart; a table of the same numbers is there for screen readers. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../shell/theme.ts';
import { formatCount, formatLocal } from '../parts/format.ts';
import { lonePoints, rangeOfTimes } from './points.ts';

interface Series {
  readonly label: string;
  /** A colour of the style: `good`, `warning`, `bad`, `accent`. */
  readonly tone: 'good' | 'warning' | 'bad' | 'accent' | 'ink-soft';
  readonly values: readonly (number | null)[];
  /** Filled down to the axis. */
  readonly isArea?: boolean;
}

export interface ChartProps {
  readonly label: string;
  /** Milliseconds since 1970, increasing. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  /** The times are days in UTC, drawn as bars, and not moments in the zone of the reader. */
  readonly isByDay?: boolean;
  /** Called with the range that was chosen by dragging. */
  readonly onRange?: (since: number, until: number) => void;
}

/** Between the lines of the axis: counts and milliseconds have no fractions. */
const wholeSteps = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();

/** In seconds: a day has one line. */
const daySteps = [1, 2, 7, 14, 28].map((days) => days * 86_400);

const library = async (): Promise<typeof uPlot> =>
  ((await import('uplot')) as unknown as { readonly default: typeof uPlot }).default;

/** The time of the day, or the day where a day begins. */
function timeTick(seconds: number): string {
  const text = formatLocal(new Date(seconds * 1_000));
  return text.endsWith('00:00:00') ? text.slice(5, 10) : text.slice(11, 16);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The colour that a name has in the current theme. */
function colourOf(element: Element, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const height = 180;
/** Of one line, with its margins. `.chart-skeleton` has the height of a chart. */
const legendHeight = 45;

export function Chart(props: ChartProps) {
  const { label, times, series, format = formatCount, isByDay = false, onRange } = props;
  const shown = (at: number): string => (isByDay ? dayOf(at) : formatLocal(new Date(at)));
  const element = useRef<HTMLDivElement>(null);
  const isEmpty = series.every(({ values }) => values.every((value) => (value ?? 0) === 0));
  const drawn = useRef<uPlot | undefined>(undefined);
  const mode = theme.value;
  const shape = series.map(({ label: name, tone }) => `${name}:${tone}`).join();
  const seconds = times.map((at) => at / 1_000);
  const data = [seconds, ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
  const latest = useRef({ data, seconds, series, onRange, format });
  latest.current = { data, seconds, series, onRange, format };

  useEffect(() => {
    const parent = element.current;
    if (!parent) return undefined;
    let isGone = false;
    const observer = new ResizeObserver(() => drawn.current?.setSize({ width: parent.clientWidth, height }));
    void library().then((Plot) => {
      if (isGone) return;
      const axis = {
        stroke: colourOf(parent, 'ink-soft'),
        grid: { stroke: colourOf(parent, 'line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
      };
      drawn.current = new Plot(
        {
          width: parent.clientWidth,
          height,
          ...(isByDay && { tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') }),
          padding: [8, 24, 0, 0],
          legend: { show: true, live: true },
          cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
          scales: {
            x: { range: () => rangeOfTimes(latest.current.seconds, isByDay) },
            y: { range: (_plot, _low, high) => [0, Math.max(1, high) * 1.1] },
          },
          axes: [
            {
              ...axis,
              size: 32,
              ...(isByDay && { incrs: daySteps }),
              values: (_plot, ticks) =>
                ticks.map((tick) => (isByDay ? dayOf(tick * 1_000).slice(5) : timeTick(tick))),
            },
            {
              ...axis,
              size: 64,
              incrs: wholeSteps,
              values: (_plot, ticks) => ticks.map((tick) => latest.current.format(tick)),
            },
          ],
          series: [
            {
              label: 'time',
              value: (_plot, at: number | null) => (at === null ? '' : shown(at * 1_000)),
            },
            ...series.map(({ label: name, tone, isArea }) => {
              const stroke = colourOf(parent, tone);
              return {
                label: name,
                stroke,
                width: 1.5,
                ...(isArea && { fill: colourOf(parent, `${tone}-soft`) }),
                ...(isByDay && { fill: stroke, paths: Plot.paths.bars?.({ size: [0.6, 40] }) }),
                points: {
                  show: false,
                  size: 6,
                  fill: stroke,
                  ...(!isByDay && {
                    filter: (_plot: uPlot, at: number) =>
                      lonePoints(latest.current.series[at - 1]?.values ?? []),
                  }),
                },
                spanGaps: false,
                // Empty while the cursor is elsewhere.
                value: (_plot: uPlot, value: number | null, _series: number, index: number | null) =>
                  index === null ? '' : value === null ? '–' : latest.current.format(value),
              };
            }),
          ],
          hooks: {
            setSelect: [
              (plot) => {
                const { left, width } = plot.select;
                if (width < 8) return;
                const [since, until] = [left, left + width].map((x) => plot.posToVal(x, 'x') * 1_000);
                plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                if (since !== undefined && until !== undefined) latest.current.onRange?.(since, until);
              },
            ],
          },
        },
        latest.current.data,
        parent,
      );
      observer.observe(parent);
    });
    return () => {
      isGone = true;
      observer.disconnect();
      drawn.current?.destroy();
      drawn.current = undefined;
    };
  }, [mode, shape]);

  useEffect(() => drawn.current?.setData(data), [JSON.stringify(data)]);

  return (
    <figure class="chart" style={{ minHeight: `${height + legendHeight}px` }} aria-label={label}>
      <div ref={element} aria-hidden="true" />
      {isEmpty && <p class="chart-empty quiet">Nothing in this period</p>}
      <div class="spoken">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">time</th>
              {series.map(({ label: name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((at, index) => (
              <tr key={at}>
                <th scope="row">{shown(at)}</th>
                {series.map(({ label: name, values }) => (
                  <td key={name}>
                    {values[index] === null || values[index] === undefined ? '–' : format(values[index])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
