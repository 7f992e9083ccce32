import { createSecureContext } from "node:tls";
import { isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { PathMapping } from "@virtual-workspaces/kcp";
import { checkBackend } from "../mapping/mapping.ts";
import { overlaps, parseRoutePath, type RoutePath } from "../mapping/route-path.ts";

/** Client certificate and its key, PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Reason why an object has no route. */
export interface Rejection {
  readonly kind: "refused";
  readonly reason: "InvalidPath" | "PathTaken" | "InvalidBackend" | "SecretNotFound" | "InvalidSecret";
  readonly message: string;
}

/** Facts that decide about objects. */
export interface Surroundings {
  /** Static mappings: they take precedence over objects, for all paths below them. */
  readonly fixed: readonly { readonly path: string; readonly segments: RoutePath }[];
  /** Returns a Secret, if it exists and has the right type. */
  readonly secret: (at: NonNullable<PathMapping["spec"]["secretRef"]>) => KubeObject | "none" | "unknown";
}

/** Accepted object, which becomes a route. */
export interface Accepted {
  readonly kind: "accepted";
  readonly spec: PathMapping["spec"];
  readonly certificate: Certificate | undefined;
}

/** Result for an object; `unknown` while its Secret is. */
export type Verdict = Accepted | Rejection | { readonly kind: "unknown" };

/**
 * Decides which objects become routes, by name. The older of two that overlap wins, and an object never overlaps a static
 * mapping. `/` overlaps none, because it only takes paths that no other mapping has. The same objects give the same result on
 * every replica.
 */
export function judged(objects: readonly PathMapping[], surroundings: Surroundings): ReadonlyMap<string, Verdict> {
  const taken = surroundings.fixed
    .filter(({ segments }) => segments.length > 0)
    .map(({ path, segments }) => ({ segments, by: `the static mapping ${path}` }));
  const verdicts = new Map<string, Verdict>();
  for (const { metadata, spec } of [...objects].sort(byAge)) {
    const { name = "" } = metadata;
    const segments = pathOf(spec);
    if (typeof segments === "string") {
      verdicts.set(name, rejected("InvalidPath", `spec.path: ${segments}`));
      continue;
    }
    const first = taken.find((other) => overlaps(other.segments, segments));
    verdicts.set(
      name,
      first === undefined
        ? judgedAlone(spec, surroundings)
        : rejected("PathTaken", `spec.path: ${spec.path} overlaps ${first.by}: use another path`),
    );
    // An object with other faults still reserves its path, so that the path does not change owner for a moment.
    if (first === undefined) taken.push({ segments, by: `${spec.path} of the older PathMapping ${name}` });
  }
  return verdicts;
}

function rejected(reason: Rejection["reason"], message: string): Rejection {
  return { kind: "refused", reason, message };
}

/** The schema has the same rules, but an administrator may have applied another schema. */
function pathOf({ path, backends }: Partial<PathMapping["spec"]> = {}): RoutePath | string {
  if (typeof path !== "string" || !Array.isArray(backends)) return "set path and backends";
  const segments = parseRoutePath(path);
  if (typeof segments === "string") return segments;
  const [first, view] = segments;
  return first === "services" && view !== undefined
    ? segments
    : "use a path below /services/ whose next segment is a word";
}

function judgedAlone(spec: PathMapping["spec"], { secret }: Surroundings): Verdict {
  const { backends, caBundle, secretRef } = spec;
  const problem = backends.map(checkBackend).find((one) => one !== undefined) ?? caProblem(caBundle);
  if (problem !== undefined) return rejected("InvalidBackend", `spec: ${problem}`);
  if (secretRef === undefined) return { kind: "accepted", spec, certificate: undefined };
  const what = `spec.secretRef: the Secret ${secretRef.namespace}/${secretRef.name}`;
  const found = secret(secretRef);
  if (found === "unknown") return { kind: "unknown" };
  if (found === "none")
    return rejected("SecretNotFound", `${what} does not exist, or is not of type kubernetes.io/tls: create it`);
  const certificate = certificateOf(found);
  if (certificate === undefined)
    return rejected("InvalidSecret", `${what} is invalid: set tls.crt and its private key tls.key, as PEM`);
  return { kind: "accepted", spec, certificate };
}

/** Returns the PEM of an object's authorities. */
export function caOf({ caBundle = "" }: Pick<PathMapping["spec"], "caBundle">): string {
  return Buffer.from(caBundle, "base64").toString("utf8");
}

function caProblem(caBundle: string | undefined): string | undefined {
  if (caBundle === undefined) return undefined;
  const ca = caOf({ caBundle });
  return ca.includes("-----BEGIN CERTIFICATE-----") && isUsable({ ca })
    ? undefined
    : "invalid caBundle: use PEM certificates, encoded in base64";
}

/** Certificates by Secret as read: such an object never changes, and a TLS context is expensive to create. */
const CERTIFICATES = new WeakMap<KubeObject, Certificate | "none">();

function certificateOf(secret: KubeObject): Certificate | undefined {
  const known = CERTIFICATES.get(secret) ?? readCertificate(secret);
  CERTIFICATES.set(secret, known);
  return known === "none" ? undefined : known;
}

function readCertificate(secret: KubeObject): Certificate | "none" {
  const [cert, key] = [dataOf(secret, "tls.crt"), dataOf(secret, "tls.key")];
  return cert !== "" && key !== "" && isUsable({ cert, key }) ? { cert, key } : "none";
}

function isUsable(context: { readonly ca?: string; readonly cert?: string; readonly key?: string }): boolean {
  try {
    createSecureContext(context);
    return true;
  } catch {
    return false;
  }
}

function dataOf(secret: KubeObject, key: string): string {
  const data = memberOf(secret, "data");
  const value = isJsonObject(data) ? memberOf(data, key) : undefined;
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

/** Orders by age, older first. Ties are broken by name, so that every replica picks the same one. */
function byAge({ metadata: one }: PathMapping, { metadata: other }: PathMapping): number {
  const [a, b] = [ageKey(one), ageKey(other)];
  return a === b ? 0 : a < b ? -1 : 1;
}

function ageKey({ creationTimestamp = "", name = "" }: PathMapping["metadata"]): string {
  return `${creationTimestamp} ${name}`;
}
