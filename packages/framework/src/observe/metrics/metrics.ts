import type { IncomingMessage, ServerResponse } from "node:http";
import { type Authorizer, deny } from "../../authz/authorization.ts";
import type { ServerCore } from "../../core.ts";
import { parseAccept } from "../../encode/accept.ts";
import { respond } from "../../encode/respond.ts";
import { problem } from "../../listener/malformed.ts";
import { defineVirtualWorkspace, type VirtualWorkspace } from "../../virtual-workspace.ts";
import { CONTENT_TYPES, type Exposition, expose } from "./exposition.ts";
import type { MetricFamily } from "./family.ts";
import { processFamilies, watchProcess } from "./process-families.ts";
import { RequestMeter } from "./request-meter.ts";
import { serverFamilies } from "./server-families.ts";
import { viewFamilies } from "./view-families.ts";

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
  readonly #core: ServerCore;
  readonly #metrics: Metrics;

  constructor(core: ServerCore, metrics: Metrics) {
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
