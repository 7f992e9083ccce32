import type { MetricFamily } from "./family.ts";

/** The formats that scrapers ask for. */
export type Exposition = "text" | "openmetrics";

export const CONTENT_TYPES: Readonly<Record<Exposition, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** Metrics as scrapers read them: Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
export function expose(families: readonly MetricFamily[], format: Exposition): string {
  const lines = families.flatMap((family) => linesOf(family, format));
  if (format === "openmetrics") lines.push("# EOF");
  return `${lines.join("\n")}\n`;
}

function linesOf(family: MetricFamily, format: Exposition): string[] {
  const { type, help } = family;
  const open = format === "openmetrics";
  // A counter's name ends with _total in OpenMetrics, and the family's does not.
  const name = open && type === "counter" ? family.name.replace(/_total$/, "") : family.name;
  const head = [`# HELP ${name} ${escaped(help, open)}`, `# TYPE ${name} ${type}`];
  if (family.type === "histogram") return [...head, ...histogramLines(family)];
  const sampled = open && type === "counter" ? `${name}_total` : name;
  const names = family.labelNames;
  return [
    ...head,
    ...family.samples.map(({ labels, value }) => `${sampled}${labelled(names, labels)} ${number(value)}`),
  ];
}

function histogramLines({
  name,
  bounds,
  labelNames,
  samples,
}: MetricFamily & { readonly type: "histogram" }): string[] {
  const names = [...labelNames, "le"];
  return samples.flatMap(({ labels, counts, count, sum }) => {
    let below = 0;
    const buckets = bounds.map((bound, at) => {
      below += counts[at] ?? 0;
      return `${name}_bucket${labelled(names, [...labels, number(bound)])} ${below}`;
    });
    const own = labelled(labelNames, labels);
    return [
      ...buckets,
      `${name}_bucket${labelled(names, [...labels, "+Inf"])} ${count}`,
      `${name}_sum${own} ${number(sum)}`,
      `${name}_count${own} ${count}`,
    ];
  });
}

function labelled(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return "";
  return `{${names.map((name, at) => `${name}="${escaped(values[at] ?? "", true)}"`).join(",")}}`;
}

function escaped(text: string, quotes: boolean): string {
  const plain = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return quotes ? plain.replaceAll('"', '\\"') : plain;
}

function number(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
