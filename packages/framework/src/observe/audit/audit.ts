import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { LineTarget } from "../log/target.ts";
import { type AuditPolicy, checkPolicy } from "./check-policy.ts";

/** Options of an audit log. */
export interface AuditOptions {
  /** Kubernetes' `audit.k8s.io/v1` Policy: an object, or the path of a YAML or JSON file (`--audit-policy-file`). */
  readonly policy: AuditPolicy | string;
  /** Target, one JSON object a line. A file is opened at server start and readable by its owner only. */
  readonly to: LineTarget;
  /**
   * Behavior when the queue is full: `wait` delays new requests, up to `requestTimeout`, then 503; `drop` loses events, counts
   * them and logs that (`batch`). Both lose events of requests without effect that cannot be delayed: probes, and early
   * rejections (400, 401, 429).
   * @default "wait"
   */
  readonly whenFull?: "wait" | "drop";
  /**
   * Whether a response ends only once its events are written or lost (Kubernetes' `--audit-log-mode=blocking`): a client with a
   * complete response finds them in the log. Costs a write for each response, or for several that end together. It does not hold
   * for rejections before authentication, for probes and upgrades, and streams with a known length.
   * @default false, events follow within 40 ms
   */
  readonly blocking?: boolean;
  /** Bytes that may be pending; with `wait`, plus the events of requests under way. @default 8 MiB */
  readonly maxPending?: number;
  /**
   * Longest recorded object, characters, uncompressed. A longer one is left out, and marked with the annotation
   * `audit.k8s.io/truncated`.
   * @default 1 MiB
   */
  readonly maxObject?: number;
  /**
   * Returns the workspace path of a logical cluster, for the annotation `kcp.io/path`; `undefined` while it is unknown. Must not throw.
   * @default none is known; a workspace server knows its own
   */
  readonly pathOf?: ((cluster: string) => string | undefined) | undefined;
}

/** An audit log, for `audit` of a server. Made by {@link audit}. */
export interface Audit extends Required<Omit<AuditOptions, "pathOf">>, Pick<AuditOptions, "pathOf"> {
  readonly policy: AuditPolicy;
}

/**
 * Writes Kubernetes' audit events (`audit.k8s.io/v1` Event) of all requests, including rejected ones such as 401s.
 *
 * Security: events never contain credential headers, but they contain the URL with its query, and at the levels `Request` and
 * `RequestResponse` whole objects, Secrets and tokens included. Give such resources the level `Metadata` in an earlier rule.
 *
 * @throws Error on an invalid policy, with the path of each invalid field, or a file that cannot be read
 */
export function audit(options: AuditOptions): Audit {
  const {
    policy,
    to,
    whenFull = "wait",
    blocking = false,
    maxPending = 8 * 2 ** 20,
    maxObject = 2 ** 20,
    pathOf,
  } = options;
  const checked = checkPolicy(typeof policy === "string" ? readPolicyFile(policy) : policy);
  return Object.freeze({ policy: checked, to, whenFull, blocking, maxPending, maxObject, pathOf });
}

/** Parses a YAML or JSON file. @throws Error that names the file, and the invalid line */
function readPolicyFile(path: string): unknown {
  // Loaded on first use: most servers read no YAML.
  const { parseDocument } = createRequire(import.meta.url)("yaml") as typeof Yaml;
  const document = parseDocument(readFileSync(path, "utf8"), { version: "1.1", prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`audit policy: ${path}: ${problem.message}`);
  return document.toJS();
}
