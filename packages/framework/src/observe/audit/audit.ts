import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { LineTarget } from "../log/target.ts";
import { type AuditPolicy, checkPolicy } from "./check-policy.ts";

/** What is audited, and where that is written. */
export interface AuditOptions {
  /** Kubernetes' `audit.k8s.io/v1` Policy: an object, or the path of a file of YAML or JSON (`--audit-policy-file`). */
  readonly policy: AuditPolicy | string;
  /** One JSON object a line. A file, opened when the server starts, is readable to its owner alone. */
  readonly to: LineTarget;
  /**
   * What happens when as much waits as may: `wait` holds new requests back, for no longer than `requestTimeout`, then 503
   * (Kubernetes' `--audit-log-mode=blocking`); `drop` loses events, counts them and says so in the log (`batch`). Either
   * way those are lost of what cannot be held back, and does nothing: probes, and what is refused before (400, 401, 429).
   * @default "wait"
   */
  readonly whenFull?: "wait" | "drop";
  /** How much may wait to be written, bytes; with `wait` the events of requests under way come on top. @default 8 MiB */
  readonly maxPending?: number;
  /**
   * How long a recorded object may be, characters, uncompressed. A longer one is left out, and the annotation `audit.k8s.io/truncated`
   * says so. @default 1 MiB
   */
  readonly maxObject?: number;
}

/** An audit log, for `audit` of a server. Made by {@link audit}. */
export interface Audit extends Required<AuditOptions> {
  readonly policy: AuditPolicy;
}

/**
 * Writes who did what, to what, with which outcome, as Kubernetes' audit events (`audit.k8s.io/v1` Event). Refused
 * requests are written too, 401s among them. Events never hold credentials that are sent as such, but hold the request's
 * URL with its query, and at the levels `Request` and `RequestResponse` whole objects, those of Secrets and tokens too
 * if the policy does not say otherwise: give such resources the level `Metadata`, in a rule before.
 *
 * @throws Error on a policy that is none, with the path of each field that is wrong, or a file that cannot be read
 */
export function audit(options: AuditOptions): Audit {
  const { policy, to, whenFull = "wait", maxPending = 8 * 2 ** 20, maxObject = 2 ** 20 } = options;
  const checked = checkPolicy(typeof policy === "string" ? readPolicyFile(policy) : policy);
  return Object.freeze({ policy: checked, to, whenFull, maxPending, maxObject });
}

/** What a file of YAML or JSON says. @throws Error that names the file, and the line that is no YAML */
function readPolicyFile(path: string): unknown {
  // Loaded when first needed: most servers read no YAML.
  const { parseDocument } = createRequire(import.meta.url)("yaml") as typeof Yaml;
  const document = parseDocument(readFileSync(path, "utf8"), { version: "1.1", prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`audit policy: ${path}: ${problem.message}`);
  return document.toJS();
}
