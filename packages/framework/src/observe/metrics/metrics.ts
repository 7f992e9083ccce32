import type { IncomingMessage, ServerResponse } from "node:http";
import { type Authorizer, deny } from "../../authz/authorization.ts";
import { parseAccept } from "../../encode/representation.ts";
import { respond } from "../../encode/respond.ts";
import { problem } from "../../listener/malformed.ts";
import { defineVirtualWorkspace, type MetricFamily, type VirtualWorkspace } from "../../virtual-workspace.ts";
import { merged } from "./family.ts";
import { RequestMeter } from "./request-meter.ts";
import { type MeteredServer, processFamilies, serverFamilies, viewFamilies, watchProcess } from "./server-families.ts";

/** Access to the metrics, and their selection. */
export interface MetricsOptions {
  /**
   * Authorizes scrapes: called with the verb `get` and the path `/metrics`, as Kubernetes and kcp do for non-resource URLs.
   * Callers are authenticated as for any view.
   * @default no one may read them
   */
  readonly authorize?: Authorizer<unknown>;
  /** Whether to include `process_*` and `nodejs_*`. @default true */
  readonly process?: boolean;
  /** Additional families, called on every scrape. Labels must not contain data of callers. @default none */
  readonly families?: () => readonly MetricFamily[];
  /**
   * Returns the metrics of all processes behind one address, from those of this one ({@link sumOfMetrics}). Called on every scrape.
   * @default those of this process
   */
  readonly sum?: (own: readonly MetricFamily[]) => Promise<readonly MetricFamily[]>;
}

/** Metrics, for `metrics` of a server. Made by {@link metrics}. */
export interface Metrics extends Required<Omit<MetricsOptions, "sum">>, Pick<MetricsOptions, "sum"> {}

/**
 * Serves Prometheus metrics at `/metrics`, beside `/services`, in the text format 0.0.4 or as OpenMetrics, by `Accept`. Names
 * are Kubernetes' where they exist; labels name the virtual workspace, never a user, logical cluster, namespace or object.
 * Requests have at most 2,000 sets of labels, each with 37 series and one per status code; the rest is counted as `other`.
 */
export function metrics({ authorize = denyAll, process = true, families = none, sum }: MetricsOptions = {}): Metrics {
  return Object.freeze({ authorize, process, families, ...(sum && { sum }) });
}

const none = (): readonly MetricFamily[] => [];

const denyAll: Authorizer<unknown> = () => deny("this server has no rule for reading its metrics");

/** Path of the metrics. */
export const METRICS_PATH = "/metrics";

/** Metrics of one server. */
export class ServerMetrics {
  readonly requests: RequestMeter = new RequestMeter();
  /** View at {@link METRICS_PATH}, internal to the server. */
  readonly workspace: VirtualWorkspace;
  readonly #core: MeteredServer;
  readonly #metrics: Metrics;

  constructor(core: MeteredServer, metrics: Metrics) {
    this.#core = core;
    this.#metrics = metrics;
    if (metrics.process) watchProcess();
    this.workspace = defineVirtualWorkspace({
      name: "metrics",
      path: "/",
      authorize: metrics.authorize,
      handle: (req, res) => this.#answer(req, res),
    });
  }

  /** Returns the metrics of this process. */
  async families(): Promise<readonly MetricFamily[]> {
    const families: MetricFamily[] = [
      ...this.requests.families(),
      ...serverFamilies(this.#core),
      ...viewFamilies(this.#core),
      ...this.#metrics.families(),
    ];
    if (this.#metrics.process) families.push(...(await processFamilies()));
    return merged(families);
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== "GET" && req.method !== "HEAD") {
      throw problem(405, "the metrics are read-only: use GET");
    }
    const own = await this.families();
    const families = (await this.#metrics.sum?.(own)) ?? own;
    const format = formatOf(req.headers.accept);
    respond(res, {
      code: 200,
      contentType: CONTENT_TYPES[format],
      body: Buffer.from(expose(families, format)),
    });
  }
}

/** OpenMetrics for clients that prefer it. */
function formatOf(accept: string | undefined): Exposition {
  for (const { type, subtype } of accept === undefined ? [] : parseAccept(accept)) {
    if (type === "application" && subtype === "openmetrics-text") return "openmetrics";
    if (type === "text" || type === "*") return "text";
  }
  return "text";
}

/** Formats of scrapers. */
type Exposition = "text" | "openmetrics";

const CONTENT_TYPES: Readonly<Record<Exposition, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** Formats metrics as Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
function expose(families: readonly MetricFamily[], format: Exposition): string {
  const lines = families.flatMap((family) => linesOf(family, format));
  if (format === "openmetrics") lines.push("# EOF");
  return `${lines.join("\n")}\n`;
}

function linesOf(family: MetricFamily, format: Exposition): string[] {
  const { type, help } = family;
  const open = format === "openmetrics";
  // In OpenMetrics the name of a counter ends with _total, and the family's does not.
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
