import type { IncomingMessage, ServerResponse } from "node:http";
import { type Authorizer, deny } from "../../authz/authorization.ts";
import { parseAccept } from "../../encode/representation.ts";
import { respond } from "../../encode/respond.ts";
import { problem } from "../../listener/malformed.ts";
import { defineVirtualWorkspace, type MetricFamily, type VirtualWorkspace } from "../../virtual-workspace.ts";
import { RequestMeter } from "./request-meter.ts";
import { type MeteredServer, processFamilies, serverFamilies, viewFamilies, watchProcess } from "./server-families.ts";

/** Who sees the metrics, and which. */
export interface MetricsOptions {
  /**
   * Who may read them: asked with the verb `get` and the path `/metrics`, as Kubernetes and kcp ask about non-resource
   * URLs. Callers are authenticated as for any view. @default nobody
   */
  readonly authorize?: Authorizer<unknown>;
  /** Whether `process_*` and `nodejs_*` are among them. @default true */
  readonly process?: boolean;
  /** What is told besides, asked whenever somebody reads. Name nothing of a caller's in labels. @default nothing */
  readonly families?: () => readonly MetricFamily[];
}

/** Metrics, for `metrics` of a server. Made by {@link metrics}. */
export interface Metrics extends Required<MetricsOptions> {}

/**
 * Serves Prometheus metrics at `/metrics`, beside `/services`, in the text format 0.0.4 or as OpenMetrics, by `Accept`.
 * Names are Kubernetes' where it has the same; labels say the virtual workspace, never a user, logical cluster,
 * namespace or object. There are at most 2,000 sets of labels for requests, each with 37 series and one for each status
 * code; what comes beyond is counted as `other`.
 */
export function metrics({ authorize = nobody, process = true, families = none }: MetricsOptions = {}): Metrics {
  return Object.freeze({ authorize, process, families });
}

const none = (): readonly MetricFamily[] => [];

const nobody: Authorizer<unknown> = () => deny("nobody may read the metrics of this server");

/** Where metrics are. */
export const METRICS_PATH = "/metrics";

/** The metrics of one server. */
export class ServerMetrics {
  readonly requests: RequestMeter = new RequestMeter();
  /** What answers at {@link METRICS_PATH}: a view like others, that is no virtual workspace of anybody's. */
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

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== "GET" && req.method !== "HEAD") {
      throw problem(405, "metrics are read: use GET");
    }
    const { requests } = this;
    const families: MetricFamily[] = [
      ...requests.families(),
      ...serverFamilies(this.#core),
      ...viewFamilies(this.#core),
      ...this.#metrics.families(),
    ];
    if (this.#metrics.process) families.push(...(await processFamilies()));
    const format = formatOf(req.headers.accept);
    respond(res, { code: 200, contentType: CONTENT_TYPES[format], body: Buffer.from(expose(families, format)) });
  }
}

/** OpenMetrics for whoever would rather have that. */
function formatOf(accept: string | undefined): Exposition {
  for (const { type, subtype } of accept === undefined ? [] : parseAccept(accept)) {
    if (type === "application" && subtype === "openmetrics-text") return "openmetrics";
    if (type === "text" || type === "*") return "text";
  }
  return "text";
}

/** The formats that scrapers ask for. */
type Exposition = "text" | "openmetrics";

const CONTENT_TYPES: Readonly<Record<Exposition, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** Metrics as scrapers read them: Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
function expose(families: readonly MetricFamily[], format: Exposition): string {
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
